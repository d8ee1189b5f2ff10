module furlong-adapter

go 1.19
