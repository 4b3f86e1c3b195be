package node

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// rescale says what to try if a column of the features has a large scale and the form keeps it, or
// keeps only whether there is a number; empty if no column has. Columns of tables are of one scale unless somebody wants them otherwise.
func (k *Examples) rescale(f task.Form) string {
	if k.words.Columns {
		return ""
	}
	if most, large := k.LargestDeviation(); f != task.FormStandard && large {
		return fmt.Sprintf("some features have a large scale (standard deviations up to %.3g), so equal scales may help: try --features %s", most, task.FormStandard)
	}
	return ""
}

// Use gives the networks the features in another form, which the rows that train decide.
func (k *Examples) Use(f task.Form) error {
	if f == k.Form {
		return nil
	}
	p := models.Preparation{Features: columns.Scaling{Form: string(f)}}
	if f == task.FormStandard {
		p.Edges.Form = columns.Standard
	}
	d := *k.Dataset
	d.Split = k.Parts
	err := p.Fit(&d)
	var rows tensor.Array
	if err == nil {
		rows, err = p.Features.Apply(k.Features)
	}
	if err != nil {
		return fmt.Errorf("features as %s: %w; the forms of --features are %s", f, err, strings.Join(task.Forms, ", "))
	}
	k.Form, k.plain, k.prepared = f, rows, p
	k.join()
	return nil
}

// fitted makes the features anew by what the rows of a split say that train.
func (k *Examples) fitted() error {
	d, err := k.Dataset.Fit(k.Parts.Train)
	if err != nil || d == k.Dataset && k.Form != task.FormStandard {
		return err
	}
	f := k.Form
	k.Dataset, k.Form = d, ""
	return k.Use(f)
}

// encode gives the networks features more, which say where a node is in the graph.
func (k *Examples) encode(text string) (err error) {
	if text == k.encoding {
		return nil
	}
	all, err := task.EncodingsOf(text)
	if err != nil {
		return err
	}
	if k.encoded, err = all.Of(k.Graph); err != nil {
		return err
	}
	k.encoding = text
	k.join()
	return nil
}

// join puts the encoding beside the features in their form.
func (k *Examples) join() {
	k.Inputs, k.near = task.Beside(k.Looped, k.plain, k.encoded), new(nearby)
	k.X = grad.Const(k.Inputs)
}
