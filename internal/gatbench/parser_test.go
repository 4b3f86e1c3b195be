package gatbench

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/tasktest"
	"github.com/edgewise-ml/edgewise/models"
)

// The parser of one command says what that of all commands does.
func TestParserOfOneCommand(t *testing.T) {
	said := func(parsed, args []string) string {
		var out bytes.Buffer
		parser, err := newParser(new(commandLine), parsed, kong.Writers(&out, &out), kong.Exit(func(int) {}))
		if err != nil {
			t.Fatal(err)
		}
		_, err = parser.Parse(args)
		return fmt.Sprint(len(parser.Model.Children), "\n", out.String(), err)
	}
	for _, line := range []string{
		"train --help", "data list -h", "train --epoch 3", "train x", "eval", "data lst",
	} {
		args := strings.Fields(line)
		one, all := said(args, args), said(nil, args)
		if one, all = strings.TrimPrefix(one, "1\n"), strings.TrimPrefix(all, "9\n"); one != all {
			t.Errorf("gatbench %s: of all commands\n%s\nand of one\n%s", line, all, one)
		}
	}
	for _, line := range []string{"", "trian", "Train", "--help", "--json train"} {
		if others := commandsBut(strings.Fields(line)); others != nil {
			t.Errorf("gatbench %s goes without %q", line, others)
		}
	}
}

// What most runs need is on the first screen of a small terminal, the most common first, and every flag says
// something in sentences.
func TestTrainHelp(t *testing.T) {
	t.Setenv("COLUMNS", "")
	help := tasktest.OK(t, "train", "--help")
	screen := strings.Join(strings.Split(help, "\n")[:24], "\n")
	at := 0
	for _, flag := range []string{"model", "task", "epochs", "seeds", "save"} {
		i := strings.Index(screen, "      --"+flag+"=")
		if i < at {
			t.Errorf("--%s is not on the first screen, or not in its place:\n%s", flag, screen)
		}
		at = i
	}
	for _, title := range []string{"Any task:", "Splits:"} {
		i := strings.Index(help, "\n"+title+"\n")
		if i < at {
			t.Errorf("%s is missing, or not in its place", title)
		}
		at = i
	}
	for _, models := range [][]string{models.Names(), models.GraphNames(), models.LinkNames(), models.FactNames()} {
		for _, m := range models {
			if !strings.Contains(help, m) {
				t.Errorf("the help does not name the model %s", m)
			}
		}
	}
	parser, err := newParser(new(commandLine), nil)
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string][]string{ // by which tasks the flags of a group are
		"nodes": {task.Graph, task.Link, task.Facts}, "examples": {task.Link, task.Facts}, "graphs": {task.Node, task.Edge, task.Link, task.Facts},
	}
	for _, f := range parser.Model.Children[0].Flags {
		if f.Group == nil || f.Name == "nodes" {
			continue
		}
		for _, of := range refused[f.Group.Key] {
			if task.Named(of).About().Refuses[f.Name] == "" {
				t.Errorf("--%s stands below %s, and the task %s takes it", f.Name, f.Group.Title, of)
			}
		}
	}
	_ = kong.Visit(parser.Model, func(at kong.Visitable, next kong.Next) error {
		if f, isFlag := at.(*kong.Flag); isFlag && !strings.HasSuffix(f.Help, ".") {
			t.Errorf("the help of --%s ends in the middle: %q", f.Name, f.Help)
		}
		return next(nil)
	})
}
