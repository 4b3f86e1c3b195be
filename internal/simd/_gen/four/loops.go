package main

// loop is a way through an innermost loop: the longest.
type loop []instruction

// next returns where an instruction may go on.
func (k *kernel) next(i int) (to []int) {
	in := k.code[i]
	if in.target >= 0 {
		to = append(to, in.target)
	}
	if in.word>>26 != 0b000101 && in.word != ret {
		to = append(to, i+1)
	}
	return to
}

// loops returns the innermost loops of a kernel.
func (k *kernel) loops() (all []loop) {
	inside := map[int]bool{}
	for i := range k.code {
		inside[i] = true
	}
	k.within(inside, func(body map[int]bool, head int) { all = append(all, k.longest(body, head)) })
	return all
}

// within calls found for the innermost loops inside a part of the code.
func (k *kernel) within(part map[int]bool, found func(body map[int]bool, head int)) (any bool) {
	for _, body := range k.components(part) {
		head := k.head(body)
		delete(body, head)
		deeper := k.within(body, found)
		body[head] = true
		if !deeper {
			found(body, head)
		}
		any = true
	}
	return any
}

// head returns the instruction by which a loop is entered.
func (k *kernel) head(body map[int]bool) int {
	first := len(k.code)
	for i := range body {
		first = min(first, i)
	}
	for i := range k.code {
		if body[i] {
			continue
		}
		for _, to := range k.next(i) {
			if body[to] {
				return to
			}
		}
	}
	return first
}

// components returns the parts in which each instruction leads to each other, in the order of their
// first instructions.
func (k *kernel) components(part map[int]bool) (all []map[int]bool) {
	reach := func(from int) map[int]bool {
		seen, todo := map[int]bool{}, []int{from}
		for len(todo) > 0 {
			i := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			for _, to := range k.next(i) {
				if part[to] && !seen[to] {
					seen[to] = true
					todo = append(todo, to)
				}
			}
		}
		return seen
	}
	reaches, taken := map[int]map[int]bool{}, map[int]bool{}
	for i := range part {
		reaches[i] = reach(i)
	}
	for i := range k.code {
		if !part[i] || taken[i] || !reaches[i][i] {
			continue
		}
		body := map[int]bool{}
		for j := range reaches[i] {
			if reaches[j][i] {
				body[j], taken[j] = true, true
			}
		}
		all = append(all, body)
	}
	return all
}

// longest returns the longest way through a loop from its head back to it.
func (k *kernel) longest(body map[int]bool, head int) loop {
	known := map[int]loop{}
	var from func(i int) loop
	from = func(i int) loop {
		if way, ok := known[i]; ok {
			return way
		}
		best := loop(nil)
		for _, to := range k.next(i) {
			switch {
			case to == head:
				if best == nil {
					best = loop{}
				}
			case body[to]:
				if way := from(to); way != nil && len(way) >= len(best) {
					best = way
				}
			}
		}
		if best != nil {
			best = append(loop{k.code[i]}, best...)
		}
		known[i] = best
		return best
	}
	return from(head)
}
