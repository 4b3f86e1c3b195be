package bits

func dense(b *book)     {}
func plain(b *book)     {}
func trainings(b *book) {}
