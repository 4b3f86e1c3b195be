package gatbench

import (
	"github.com/edgewise-ml/edgewise/internal/cli"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// What is learnt: what --task says, and taskFacts, links of several kinds, and taskRows.
const (
	taskNode  = "node"
	taskFacts = "facts"
	taskRows  = "rows" // links, by LightGCN
)

// remedies say, for each task, which flags of train it has no use for, and what to do.
var remedies = map[string]map[string]string{
	taskNode: {
		"readout": "it is for --task graph: leave it out",
		"pool":    "it is for --task graph: leave it out",
	},
	taskEdge: {
		"readout":   "it is for --task graph: leave it out",
		"pool":      "it is for --task graph: leave it out",
		"inductive": "test edges carry messages like all others, and only their classes are held back: leave it out",
		"plot":      "the picture shows nodes: --csv or --log record the epochs instead",
		"attention": "it is for --task node: leave it out",
		"nodes":     "it is for --attention with --task node: leave it out",
	},
	taskGraph: but("column", withColumns("files of graphs say themselves what is what: leave it out", map[string]string{
		"no-baseline":       "none is trained beside: leave it out",
		"undirected":        "graphs are used as they stand in their files: leave it out",
		"heads":             "attention layers on graphs have four heads, or one if --hidden is not a multiple of four: leave it out",
		"out-heads":         "a graph's scores are computed without heads: leave it out",
		"attention-dropout": "networks on graphs have none: --dropout applies to their scores",
		"residual":          "the scores add up all layers already: leave it out",
		"residual-linear":   "the networks of graphs are GIN's, with a batch norm after each convolution: leave it out",
		"norm":              "the networks of graphs are GIN's, with a batch norm after each convolution: leave it out",
		"input":             "the networks of graphs are GIN's, with a batch norm after each convolution: leave it out",
		"output":            "the networks of graphs are GIN's, with a batch norm after each convolution: leave it out",
		"features":          "attributes of graphs are standardised, and labels one-hot; --column NAME=none leaves a column out, --encoding adds features",
		"fanout":            "a step reads whole graphs: --batch says how many",
		"rows":              "a step computes all rows of its graphs: leave it out",
		"split-number":      "graphs have one split, or --folds: leave it out",
		"inductive":         "test graphs are never seen in training: leave it out",
		"plot":              "the picture shows nodes: --csv or --log record the epochs instead",
		"attention":         "it is for --task node: leave it out",
		"nodes":             "it is for --attention with --task node: leave it out",
	})),
	taskLink: {
		"label":             "links are predicted, and no column: leave it out",
		"class-weights":     "links have no classes: leave it out",
		"no-baseline":       "none is trained beside: leave it out",
		"positive":          "links have no classes: leave it out",
		"readout":           "it is for --task graph: leave it out",
		"pool":              "it is for --task graph: leave it out",
		"no-edge-features":  "a graph autoencoder reads none: leave it out",
		"undirected":        "links are taken in both directions anyway: leave it out",
		"preset":            "the settings are those of Kipf and Welling; --hidden, --lr and --epochs change them",
		"split-number":      "the seed divides the links: use --seed or --seeds for other divisions",
		"folds":             "the seed divides the links: --seeds N trains on N divisions",
		"heads":             "a graph autoencoder has none: leave it out",
		"out-heads":         "a graph autoencoder has none: leave it out",
		"layers":            "a graph autoencoder has two layers: --hidden is the width of the first",
		"attention-dropout": "a graph autoencoder has no attention: leave it out",
		"residual":          "a graph autoencoder has none: leave it out",
		"residual-linear":   "a graph autoencoder has two layers without parts around them: leave it out",
		"norm":              "a graph autoencoder has two layers without parts around them: leave it out",
		"input":             "a graph autoencoder has two layers without parts around them: leave it out",
		"output":            "a graph autoencoder has two layers without parts around them: leave it out",
		"fanout":            "a step reads the whole graph: leave it out",
		"rows":              "a step computes all rows: leave it out",
		"batch":             "a step reads all links: leave it out",
		"accumulate":        "a step reads all links: leave it out",
		"inductive":         "test links never carry messages: leave it out",
		"dropout":           "a graph autoencoder has none: leave it out",
		"select":            "the epoch of the best validation AUC is kept: leave it out",
		"loss":              "it is for predicting numbers: leave it out",
		"plot":              "the picture shows classes: --csv or --log record the epochs instead",
		"attention":         "a graph autoencoder has none: leave it out",
		"nodes":             "it is for --attention, which an autoencoder does not have: leave it out",
	},
	taskFacts: withColumns("a fact is a head, a relation and a tail: leave it out", map[string]string{
		"class-weights":     "facts have no classes: leave it out",
		"no-baseline":       "none is trained beside: leave it out",
		"positive":          "facts have no classes: leave it out",
		"readout":           "it is for --task graph: leave it out",
		"pool":              "it is for --task graph: leave it out",
		"no-edge-features":  "a scorer of facts reads none: leave it out",
		"undirected":        "a fact has a direction: leave it out",
		"preset":            "the settings are those of RotatE; --hidden, --lr, --batch and --epochs change them",
		"splits":            "name a folder of train.txt, valid.txt and test.txt with --dataset; of a single file, a tenth validates and a tenth tests",
		"split-number":      "name a folder of train.txt, valid.txt and test.txt with --dataset",
		"folds":             "the seed divides the facts: --seeds N trains on N divisions",
		"encoding":          "entities have no features; the model learns a row for each: leave it out",
		"heads":             "a scorer of facts has none: leave it out",
		"out-heads":         "a scorer of facts has none: leave it out",
		"layers":            "a scorer of facts has none: --hidden is the width of an entity's row",
		"attention-dropout": "a scorer of facts has no attention: leave it out",
		"dropout":           "a scorer of facts has none: --weight-decay keeps its rows short",
		"residual":          "a scorer of facts has none: leave it out",
		"residual-linear":   "a scorer of facts has no layers: leave it out",
		"norm":              "a scorer of facts has no layers: leave it out",
		"input":             "a scorer of facts has no layers: leave it out",
		"output":            "a scorer of facts has no layers: leave it out",
		"features":          "entities have no features, and a row of numbers is learnt for each: leave it out",
		"accumulate":        "it is for nodes, edges and graphs: --batch says how many facts a step reads",
		"fanout":            "a step reads facts alone: --batch says how many",
		"rows":              "a step reads the rows of its facts: leave it out",
		"inductive":         "an entity that no fact names has no row: leave it out",
		"select":            "the epoch of the best validation MRR is kept: leave it out",
		"loss":              "it is for predicting numbers: leave it out",
		"plot":              "the picture shows classes: --csv or --log record the epochs instead",
		"attention":         "a scorer of facts has none: leave it out",
		"nodes":             "it is for --attention, which a scorer of facts does not have: leave it out",
	}),
}

// withColumns returns remedies with one for all flags that say what columns are for.
func withColumns(remedy string, of map[string]string) map[string]string {
	for _, flag := range []string{"id", "source", "target", "edge-id", "label", "weight", "column", "repeated", "directed"} {
		of[flag] = remedy
	}
	return of
}

// but returns remedies without that of a flag.
func but(flag string, of map[string]string) map[string]string {
	delete(of, flag)
	return of
}

// remediesOf returns the remedies of a task.
func remediesOf(task string) map[string]string {
	if task == taskRows {
		return lightgcnRemedies()
	}
	return remedies[task]
}

// refused returns an error for a flag that was given and that a task has no use for.
func (c *trainCommand) refused(task string) error {
	given, of := c.given(), remediesOf(task)
	for _, flag := range given {
		if remedy := of[flag]; remedy != "" {
			return cli.Misuse("--%s: %s", flag, remedy)
		}
	}
	if c.Threads < 0 {
		return cli.Misuse("--threads %d: it must be at least 1, or 0 for all processors", c.Threads)
	}
	if c.Seeds < 1 {
		return cli.Misuse("--seeds %d: it must be at least 1", c.Seeds)
	}
	return nil
}

// given returns the names of the flags that were given another value than they have
// without.
func (c *trainCommand) given() []string {
	var names []string
	eachFlag(reflect.ValueOf(c).Elem(), func(name, preset string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Int:
			if preset == "1" && v.Int() == 1 || preset != "1" && v.IsZero() {
				return
			}
		default:
			if v.IsZero() {
				return
			}
		}
		names = append(names, name)
	})
	return names
}

// eachFlag calls f with the flags of a command, what each is without, and what it is.
func eachFlag(v reflect.Value, f func(name, preset string, v reflect.Value)) {
	for i := range v.NumField() {
		switch field := v.Type().Field(i); {
		case field.Anonymous:
			eachFlag(v.Field(i), f)
		case field.IsExported():
			name := field.Tag.Get("name")
			if name == "" {
				name = kebab(field.Name)
			}
			f(name, field.Tag.Get("default"), v.Field(i))
		}
	}
}

// kebab is a field's name as kong makes a flag of it.
func kebab(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// oneRun returns an error for files of one model where several are trained: why says what
// trains them.
func (c *trainCommand) oneRun(why string) error {
	for _, flag := range c.given() {
		if slices.Contains([]string{"save", "checkpoint", "every", "resume", "log"}, flag) {
			return cli.Misuse("--%s keeps one model and %s", flag, why)
		}
	}
	return nil
}
