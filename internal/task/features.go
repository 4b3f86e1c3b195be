package task

import (
	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/models"
)

// Form is how the networks get the features. Empty: as suits the data.
type Form string

const (
	FormRaw      Form = "raw"      // as they are
	FormRows     Form = "rows"     // each row divided by its sum
	FormStandard Form = "standard" // each column of mean 0 and deviation 1
	FormBinary   Form = "binary"   // 1 for what is not zero

	FormBinaryRows Form = "binary-rows" // each row of those divided by its sum
)

// Forms are the values of --features.
var Forms = []string{string(FormRaw), string(FormRows), string(FormStandard), string(FormBinary), string(FormBinaryRows)}

// FormOf returns the form that suits features: that of the papers for words, and
// none for what a sum says nothing of.
func FormOf(k datasets.FeatureKind) Form {
	if k.Words() {
		return FormRows
	}
	return FormRaw
}

// EncodingsOf reads what is given as --encoding, such as pagerank,random-walk:16.
func EncodingsOf(text string) (models.Encodings, error) {
	all, err := models.ParseEncodings(text)
	if err != nil {
		return nil, cli.Misuse("--encoding %w", err)
	}
	return all, nil
}
