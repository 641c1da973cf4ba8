package main

func Example() {
	main()
	// Unordered output:
	// {"url":"http://shop.example/site/lamp.html","name":"A\u0026B","price":"24.90","currency":"EUR"}
	// {"url":"http://shop.example/site/chairs.html","name":"Oak chair","price":"80"}
	// {"url":"http://shop.example/site/chairs.html","name":"Beech chair","price":"75.50"}
}
