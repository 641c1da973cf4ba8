package main

func Example() {
	main()
	// Unordered output:
	// 200 "Home", links: 2
	// 200 "News", links: 2
	// 200 "About us", links: 2
	// 200 "Archive", links: 1
	// 404 "", links: 0
}
