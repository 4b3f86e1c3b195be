package docs_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/datasets/form/parquet"
)

// The table of forms in use/datasets.md is that of the program.
func TestForms(t *testing.T) {
	page, err := os.ReadFile("use/datasets.md")
	if err != nil {
		t.Fatal(err)
	}
	want := "| form | files | what it is |\n|---|---|---|\n"
	for _, f := range append([]form.Form{parquet.Form}, form.All()...) { // as the command gives them
		files := "–"
		if len(f.Endings) > 0 {
			files = "`" + strings.Join(f.Endings, "`, `") + "`"
		}
		want += fmt.Sprintf("| %s | %s | %s |\n", f.Name, files, f.Says)
	}
	if !strings.Contains(string(page), "\n\n"+want+"\n") {
		t.Errorf("use/datasets.md has another table of forms than parquet.Form and form.All:\n%s", want)
	}
}
