package train

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/ranks"
	"github.com/edgewise-ml/edgewise/tensor"
)

// joint takes steps together: those of all ranks of a team, and of each rank as many as accumulate. Of the steps
// that begin with the i-th of an epoch rank r takes i+r, i+r+size, and so on.
//
// Each gradient counts in proportion to its step's weight. They are added up in the order of the ranks, so R ranks give the bits
// of one process that accumulates R steps.
type joint struct {
	team    *ranks.Team
	own     int // steps of this rank
	slots   []slotOf
	at      map[*grad.Param]int // its slot
	buckets []bucket
	frozen  map[int]*mean // new values of frozen Params, by their place in the model
	places  map[*grad.Param]int
	params  []*grad.Param // the model's
	room    []tensor.Float

	started int // buckets whose sum has begun, the first ones
	said    said
}

// slotOf is where the gradient of a Param is added up: n elements, and one that counts the steps that used it.
type slotOf struct {
	param *grad.Param
	sum   []tensor.Float
	final bool // no step of this rank adds to it any more
}

// bucket is some slots whose sums travel together.
type bucket struct {
	first, end int // slots
	all        []tensor.Float
	sum        *ranks.Sum[tensor.Float]
}

// said is what a rank tells the others of its part of a step, as numbers that travel together.
type said struct {
	Weight float64 // of its steps
	Loss   float64 // times their weights
	Frozen float64 // bytes of new values of frozen Params
	Stop   float64 // why it cannot go on: stopNot, stopCancelled or stopFailed
}

const (
	stopNot = iota
	stopCancelled
	stopFailed
)

// bucketLeast is how many elements make a bucket: with fewer, more is said than sent.
const bucketLeast = 1 << 16

// newJoint makes room for the gradients of the model that f trains. The Params that were declared last come first, as
// their gradients do.
func newJoint(f *Fit) *joint {
	j := &joint{team: f.Team, own: max(1, f.Accumulate), at: map[*grad.Param]int{}, places: map[*grad.Param]int{}}
	size := 0
	for _, p := range grad.Params(f.Model) {
		j.places[p] = len(j.params)
		if j.params = append(j.params, p); !p.Frozen {
			size += len(p.Value.Data) + 1
		}
	}
	j.room = make([]tensor.Float, size)
	lo, begun := 0, 0 // elements before this slot, and before its bucket
	for _, p := range slices.Backward(j.params) {
		if p.Frozen {
			continue
		}
		hi := lo + len(p.Value.Data) + 1
		j.at[p] = len(j.slots)
		j.slots = append(j.slots, slotOf{param: p, sum: j.room[lo:hi:hi]})
		if lo = hi; hi-begun >= bucketLeast || hi == size {
			j.buckets = append(j.buckets, bucket{end: len(j.slots), all: j.room[begun:hi]})
			begun = hi
		}
	}
	for i := range len(j.buckets) - 1 {
		j.buckets[i+1].first = j.buckets[i].end
	}
	return j
}

// stride is how many steps are taken together.
func (j *joint) stride() int {
	if j == nil {
		return 1
	}
	return j.own * j.team.Size()
}

// step takes the steps of an epoch that begin with the i-th, as run.step does for one.
func (j *joint) step(r *run, e *Epoch, i int) error {
	clear(j.room)
	j.frozen, j.said, j.started = map[int]*mean{}, said{}, 0
	for k := range j.slots {
		j.slots[k].final = false
	}
	begun, steps := r.tape.Step(), max(1, r.Steps)
	many := min(j.stride(), steps-i)
	err := j.ours(r, i, steps)
	r.tape.SetStep(begun)
	sum, frozen, err := j.together(err)
	if err != nil {
		return err
	}
	r.tape.SetStep(begun + uint64(many))
	v := sum.Loss / sum.Weight
	if err := r.bounded(v); err != nil {
		return err
	}
	e.Loss += v * float64(many)
	r.remember(e, i)
	if sum.Frozen > 0 {
		if err := j.unpack(frozen); err != nil {
			return err
		}
	}
	r.Team.Stage("optimiser")
	return r.improve(j.grads(tensor.Float(1/sum.Weight)), e, i, v)
}

// ours computes the gradients of this rank's steps.
func (j *joint) ours(r *run, i, steps int) error {
	begun := r.tape.Step()
	for k := range j.own {
		mine := k*j.team.Size() + j.team.Rank()
		if i+mine >= steps {
			break
		}
		r.tape.SetStep(begun + uint64(mine))
		loss, v, err := r.forward()
		if err != nil {
			return err
		}
		n := 1.0
		if r.Weight != nil {
			if n = r.Weight(); !(n >= 0) || math.IsInf(n, 0) {
				panic(fmt.Errorf("train: Fit.Weight: it returned %v, want a finite number that is not negative", n))
			}
		}
		j.said.Weight, j.said.Loss = j.said.Weight+n, j.said.Loss+float64(n*v)
		if !finite(v) {
			return nil // all ranks see it in the loss
		}
		last := k+1 == j.own || i+mine+j.team.Size() >= steps
		r.Team.Stage("backward")
		grads, err := r.backward(loss, func(g grad.Grad) { j.take(g, tensor.Float(n), last) })
		if err != nil {
			return err
		}
		if err := r.trained.check(grads); err != nil {
			return err
		}
	}
	return nil
}

// take adds a gradient of a step of weight n. If it is the last of this rank, the sums of the buckets begin that are
// complete.
func (j *joint) take(g grad.Grad, n tensor.Float, last bool) {
	k, ok := j.at[g.Param]
	if !ok {
		if at, ok := j.places[g.Param]; ok && g.Param.Frozen {
			j.mean(at).add(g.Value.Data, float64(n))
		}
		return // a watched value, or what run.trained refuses
	}
	s := &j.slots[k]
	for i, v := range g.Value.Data {
		s.sum[i] += tensor.Float(n * v)
	}
	s.sum[len(s.sum)-1]++
	if s.final = last; last {
		j.begin(false)
	}
}

// begin begins the sums of the buckets that are complete, or of all. Ranks begin them in one order, in which the second
// half of a sum comes after the first half of the next.
func (j *joint) begin(all bool) {
	for ; j.started < len(j.buckets); j.started++ {
		b := &j.buckets[j.started]
		if !all && slices.ContainsFunc(j.slots[b.first:b.end], func(s slotOf) bool { return !s.final }) {
			return
		}
		b.sum = ranks.StartSum(j.team, b.all)
		if j.started > 0 {
			j.buckets[j.started-1].sum.Turn()
		}
	}
}

// together adds up the parts of all ranks: the gradients in the slots, and what the ranks say. It returns this rank's new values
// of frozen Params, too. err is what this rank could not do; then all stop.
func (j *joint) together(err error) (sum said, frozen []byte, _ error) {
	j.begin(true)
	for i := range j.buckets {
		if err := j.buckets[i].sum.Wait(); err != nil {
			return sum, nil, err
		}
	}
	frozen = j.pack()
	j.said.Frozen = float64(len(frozen))
	all, err := j.agree(err)
	for _, s := range all {
		sum.Weight, sum.Loss, sum.Frozen = sum.Weight+s.Weight, sum.Loss+s.Loss, sum.Frozen+s.Frozen
	}
	if sum.Weight == 0 { // nothing is known of any example
		sum.Weight = 1
	}
	return sum, frozen, err
}

// grads returns the gradients in the slots of the Params that any step used, multiplied by scale.
func (j *joint) grads(scale tensor.Float) (grads grad.Grads) {
	for _, s := range slices.Backward(j.slots) {
		n := len(s.sum) - 1
		if s.sum[n] == 0 {
			continue
		}
		value := tensor.Of(s.sum[:n:n], s.param.Value.Shape()...)
		for k := range value.Data {
			value.Data[k] *= scale
		}
		grads = append(grads, grad.Grad{Param: s.param, Value: value})
	}
	return grads
}

// hear tells every rank what each has to say.
func (j *joint) hear() ([]said, error) {
	const width = 4
	numbers := make([]float64, width*j.team.Size())
	own := []float64{j.said.Weight, j.said.Loss, j.said.Frozen, j.said.Stop}
	if err := ranks.Share(j.team, own, numbers, slices.Repeat([]int{width}, j.team.Size())); err != nil {
		return nil, err
	}
	var all []said
	for s := range slices.Chunk(numbers, width) {
		all = append(all, said{s[0], s[1], s[2], s[3]})
	}
	return all, nil
}

func stopOf(err error) float64 {
	switch {
	case err == nil:
		return stopNot
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return stopCancelled
	}
	return stopFailed
}

// otherError says that another rank has stopped with an error. The step has not been made.
type otherError struct {
	rank int
	name string
}

func (e *otherError) Error() string {
	return fmt.Sprintf("train: rank %d (%s) has stopped with an error", e.rank, e.name)
}

// OtherRank returns the rank that knows more.
func (e *otherError) OtherRank() int { return e.rank }

// agree tells the ranks what this one says, and returns what each says. If any of them cannot go on, every rank gets an error:
// its own, or the other's.
func (j *joint) agree(err error) ([]said, error) {
	j.said.Stop = stopOf(err)
	all, failed := j.hear()
	switch {
	case failed != nil:
		return nil, failed
	case err != nil:
		return all, err
	}
	for i, s := range all {
		switch s.Stop {
		case stopCancelled:
			return all, context.Canceled
		case stopFailed:
			return all, &otherError{i, j.team.Name(i)}
		}
	}
	return all, nil
}

// share gives every rank the scores of rank 0.
func (j *joint) share(s *Scores) error {
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, s); err != nil {
		return err
	}
	text, err := j.team.Bcast(b.Bytes())
	if err != nil {
		return err
	}
	return binary.Read(bytes.NewReader(text), binary.LittleEndian, s)
}

// mean is the mean of the new values that steps taken together have for a frozen Param, such as the running statistics of a
// batch normalisation: they move once, by the mean of what the steps would each have moved them by.
type mean struct {
	weight float64
	sum    []float64
}

// mean returns that of the Param at a place in the model.
func (j *joint) mean(at int) *mean {
	m := j.frozen[at]
	if m == nil {
		m = &mean{sum: make([]float64, len(j.params[at].Value.Data))}
		j.frozen[at] = m
	}
	return m
}

// add adds the values of a step of weight n.
func (m *mean) add(values []tensor.Float, n float64) {
	m.weight += n
	for i, v := range values {
		m.sum[i] += float64(n * float64(v))
	}
}

// pack returns this rank's sums as bytes: of each Param its place, the weight and the elements.
func (j *joint) pack() []byte {
	var b []byte
	for _, at := range slices.Sorted(maps.Keys(j.frozen)) {
		m := j.frozen[at]
		b = binary.LittleEndian.AppendUint32(b, uint32(at))
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(m.weight))
		for _, v := range m.sum {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return b
}

// unpack gives frozen Params the mean of what the ranks have packed.
func (j *joint) unpack(own []byte) error {
	all, err := j.team.All(own)
	if err != nil {
		return err
	}
	j.frozen = map[int]*mean{}
	for rank, b := range all {
		for len(b) > 0 {
			at := -1
			if len(b) >= 12 {
				at = int(binary.LittleEndian.Uint32(b))
			}
			if at < 0 || at >= len(j.params) || len(b) < 12+8*len(j.params[at].Value.Data) {
				return fmt.Errorf("train: rank %d sends new values of frozen Params that are not those of this model", rank)
			}
			m := j.mean(at)
			m.weight += math.Float64frombits(binary.LittleEndian.Uint64(b[4:]))
			b = b[12:]
			for i := range m.sum {
				m.sum[i] += math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
			}
			b = b[8*len(m.sum):]
		}
	}
	for at, m := range j.frozen {
		p := j.params[at]
		if m.weight == 0 { // of steps that do not count
			continue
		}
		for i, v := range m.sum {
			p.Value.Data[i] = tensor.Float(v / m.weight)
		}
		p.Changed()
	}
	return nil
}
