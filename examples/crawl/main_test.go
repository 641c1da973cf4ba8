package main

func Example() {
	main()
	// Unordered output:
	// 200 0 Home
	// 200 1 News
	// 200 1 About us
	// 200 2 Archive
	// 404 2
}
