package columns_test

import (
	"fmt"
	"log"
	"testing/fstest"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/tensor"
)

// read reads one table of nodes.
func read(text string) *form.Raw {
	raw, err := form.ReadFS(fstest.MapFS{"people_nodes.csv": {Data: []byte(text)}}, "people_nodes.csv", form.Options{})
	if err != nil {
		log.Fatal(err)
	}
	return raw
}

// What is learnt from some rows reads others: Hull is a word that was not seen, and the median age stands for an empty cell. Ages have mean 30 and deviation 10.
func Example() {
	raw := read("id,age,town,churned\na,20,Leeds,yes\nb,40,York,no\nc,20,Leeds,no\nd,40,York,no\n")
	s, err := columns.Choose(raw, columns.Roles{Label: []string{"churned"}})
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Fit(raw, columns.Rows{}); err != nil { // no rows are named, so all train
		log.Fatal(err)
	}
	a, err := s.Apply(read("id,town,age\ne,York,25\nf,Hull,\n"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Names)
	fmt.Println(a.Features.(*tensor.Dense).Data)
	for _, w := range a.Warnings {
		fmt.Println(w)
	}
	// Output:
	// [age town=Leeds town=York]
	// [-0.5 0 1 0 0 0]
	// 1 cell of column "age" (people_nodes.csv) is empty, the first in line 3: it counts as 30, the median of the rows that train
	// 1 cell of column "town" (people_nodes.csv) has a word that the model has not seen, such as "Hull" in line 3: it counts as none of its 2 words
}
