module kaisched.example/go/kaisched

go 1.22
