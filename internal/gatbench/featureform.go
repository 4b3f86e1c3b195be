package gatbench

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// featureForm is how the networks get the features. Empty: as suits the data.
type featureForm string

const (
	formRaw      featureForm = "raw"      // as they are
	formRows     featureForm = "rows"     // each row divided by its sum
	formStandard featureForm = "standard" // each column of mean 0 and deviation 1
	formBinary   featureForm = "binary"   // 1 for what is not zero

	formBinaryRows featureForm = "binary-rows" // each row of those divided by its sum
)

var forms = []string{string(formRaw), string(formRows), string(formStandard), string(formBinary), string(formBinaryRows)}

// formOf returns the form that suits features: that of the papers for words, and
// none for what a sum says nothing of.
func formOf(k datasets.FeatureKind) featureForm {
	if k.Words() {
		return formRows
	}
	return formRaw
}

// rescale says what to try if a column of the features has a large scale and the form keeps it, or
// keeps only whether there is a number; empty if no column has. Columns of tables are of one scale unless somebody wants them otherwise.
func (k *task) rescale(f featureForm) string {
	if k.words.Columns {
		return ""
	}
	if most, large := k.LargestDeviation(); f != formStandard && large {
		return fmt.Sprintf("some features have a large scale (standard deviations up to %.3g), so equal scales may help: try --features %s", most, formStandard)
	}
	return ""
}

// use gives the networks the features in another form, which the rows that train decide.
func (k *task) use(f featureForm) error {
	if f == k.form {
		return nil
	}
	p := models.Preparation{Features: columns.Scaling{Form: string(f)}}
	if f == formStandard {
		p.Edges.Form = columns.Standard
	}
	d := *k.Dataset
	d.Split = k.split
	err := p.Fit(&d)
	var rows tensor.Array
	if err == nil {
		rows, err = p.Features.Apply(k.Features)
	}
	if err != nil {
		return fmt.Errorf("features as %s: %w; the forms of --features are %s", f, err, strings.Join(forms, ", "))
	}
	k.form, k.plain, k.prepared = f, rows, p
	k.join()
	return nil
}

// fitted makes the features anew by what the rows of a split say that train.
func (k *task) fitted() error {
	d, err := k.Dataset.Fit(k.split.Train)
	if err != nil || d == k.Dataset && k.form != formStandard {
		return err
	}
	f := k.form
	k.Dataset, k.form = d, ""
	return k.use(f)
}

// encode gives the networks features more, which say where a node is in the graph.
func (k *task) encode(text string) (err error) {
	if text == k.encoding {
		return nil
	}
	all, err := encodingsOf(text)
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
func (k *task) join() {
	k.rows, k.near = beside(k.graph, k.plain, k.encoded), new(nearby)
	k.features = grad.Const(k.rows)
}

// encodingsOf reads what is given as --encoding, such as pagerank,random-walk:16.
func encodingsOf(text string) (models.Encodings, error) {
	all, err := models.ParseEncodings(text)
	if err != nil {
		return nil, cli.Misuse("--encoding %w", err)
	}
	return all, nil
}

// beside returns features with an encoding beside them; without one they stay as they are.
func beside(g *graph.Graph, x tensor.Array, encoded *tensor.Dense) tensor.Array {
	if encoded == nil {
		return x
	}
	d := &datasets.Dataset{Graph: g, Features: x}
	return d.WithFeatures(encoded).Features
}
