// Package jsonread reads JSON and says itself where and what is wrong with it. The words of
// encoding/json, and the fields that it names, differ from one release of Go to the next.
//
// Its nouns are [Reader], which reads a text token by token, and [Error]:
//
//	r := jsonread.New(file)
//	t, err := r.Token()                 // commas and colons are no tokens
//	line, column := r.Place()           // of the token, or of what is wrong
//
//	err := jsonread.Unmarshal(text, &v) // as json.Unmarshal
//	// line 3, column 14: "edges"[2][0]: 0.5 stands there, want a whole number
//
// A Reader holds one token in memory, of at most [TokenMost] bytes. A byte-order mark is
// skipped. Texts that are read are UTF-8: bytes that are not, and \u escapes of half a
// character, are errors, since two names could become one. In what is skipped only the syntax is
// checked.
package jsonread
