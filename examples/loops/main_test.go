package main

func Example() {
	main()
	// Output:
	// 10 customers, 7 lamps sold, 0 left
}
