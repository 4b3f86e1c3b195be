// Package reading has demos that read texts and say what they are: a kind of question, a phrase, a mood, an answer.
package reading
