package link

import (
	"slices"
)

// answer is one to a question.
type answer struct {
	id    int32
	score float64
}

// best are the answers of the highest scores, those first; of equal ones the smaller ids.
type best struct {
	most int
	list []answer
}

func newBest(most int) *best { return &best{most: most} }

// add adds an answer, if it is one of the best. Ids ascend.
func (b *best) add(id int32, score float64) {
	if len(b.list) == b.most && !(score > b.list[len(b.list)-1].score) {
		return
	}
	at, _ := slices.BinarySearchFunc(b.list, score, func(a answer, score float64) int {
		if a.score >= score {
			return -1
		}
		return 1
	})
	b.list = slices.Insert(b.list, at, answer{id, score})
	b.list = b.list[:min(len(b.list), b.most)]
}
