package text

import (
	"strings"
	"sync"
	"unicode"
)

// accented are the letters that are a base letter with one mark or more: those of
// Latin-1, Latin Extended A, B and Additional.
var accented = map[rune]string{
	'A': "ÀÁÂÃÄÅĀĂĄǍǞǠǺȀȂȦḀẠẢẤẦẨẪẬẮẰẲẴẶ",
	'B': "ḂḄḆ",
	'C': "ÇĆĈĊČḈ",
	'D': "ĎḊḌḎḐḒ",
	'E': "ÈÉÊËĒĔĖĘĚȄȆȨḔḖḘḚḜẸẺẼẾỀỂỄỆ",
	'F': "Ḟ",
	'G': "ĜĞĠĢǦǴḠ",
	'H': "ĤȞḢḤḦḨḪ",
	'I': "ÌÍÎÏĨĪĬĮİǏȈȊḬḮỈỊ",
	'J': "Ĵ",
	'K': "ĶǨḰḲḴ",
	'L': "ĹĻĽḶḸḺḼ",
	'M': "ḾṀṂ",
	'N': "ÑŃŅŇǸṄṆṈṊ",
	'O': "ÒÓÔÕÖŌŎŐƠǑǪǬȌȎȪȬȮȰṌṎṐṒỌỎỐỒỔỖỘỚỜỞỠỢ",
	'P': "ṔṖ",
	'R': "ŔŖŘȐȒṘṚṜṞ",
	'S': "ŚŜŞŠȘṠṢṤṦṨ",
	'T': "ŢŤȚṪṬṮṰ",
	'U': "ÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛȔȖṲṴṶṸṺỤỦỨỪỬỮỰ",
	'V': "ṼṾ",
	'W': "ŴẀẂẄẆẈ",
	'X': "ẊẌ",
	'Y': "ÝŶŸȲẎỲỴỶỸ",
	'Z': "ŹŻŽẐẒẔ",
	'a': "àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ",
	'b': "ḃḅḇ",
	'c': "çćĉċčḉ",
	'd': "ďḋḍḏḑḓ",
	'e': "èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ",
	'f': "ḟ",
	'g': "ĝğġģǧǵḡ",
	'h': "ĥȟḣḥḧḩḫẖ",
	'i': "ìíîïĩīĭįǐȉȋḭḯỉị",
	'j': "ĵǰ",
	'k': "ķǩḱḳḵ",
	'l': "ĺļľḷḹḻḽ",
	'm': "ḿṁṃ",
	'n': "ñńņňǹṅṇṉṋ",
	'o': "òóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ",
	'p': "ṕṗ",
	'r': "ŕŗřȑȓṙṛṝṟ",
	's': "śŝşšșṡṣṥṧṩ",
	't': "ţťțṫṭṯṱẗ",
	'u': "ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự",
	'v': "ṽṿ",
	'w': "ŵẁẃẅẇẉẘ",
	'x': "ẋẍ",
	'y': "ýÿŷȳẏẙỳỵỷỹ",
	'z': "źżžẑẓẕ",
}

// bases leads from each accented letter to its base.
var bases = sync.OnceValue(func() map[rune]rune {
	m := map[rune]rune{}
	for base, letters := range accented {
		for _, r := range letters {
			m[r] = base
		}
	}
	return m
})

// Fold takes the accents off Latin letters: é and an e with a combining accent both
// become e. Letters that are no base letter with a mark, such as ß, ł and ø, stay, and
// so do letters of other scripts, without the combining marks behind them. What is no
// UTF-8 becomes U+FFFD.
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch base, ok := bases()[r]; {
		case ok:
			return base
		case unicode.Is(unicode.Mn, r):
			return -1
		}
		return r
	}, s)
}
