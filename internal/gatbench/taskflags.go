package gatbench

import (
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/edgewise-ml/edgewise/internal/cli"
)

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

// refused returns an error for a flag that was given and that a task has no use for: of says what to do with each.
func (c *trainFlags) refused(of map[string]string) error {
	for _, flag := range c.given() {
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
func (c *trainFlags) given() []string {
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
func (c *trainFlags) oneRun(why string) error {
	for _, flag := range c.given() {
		if slices.Contains([]string{"save", "checkpoint", "every", "resume", "log"}, flag) {
			return cli.Misuse("--%s keeps one model and %s", flag, why)
		}
	}
	return nil
}
