package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
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
