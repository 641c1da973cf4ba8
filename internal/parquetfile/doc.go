// Package parquetfile writes tables as Parquet, from their first row to their last.
//
// The format is https://parquet.apache.org/docs/file-format/. A file is groups of rows; in a group,
// each column is a chunk of pages, compressed with zstd; a footer says where all is. A group is in
// memory until it is complete. Nothing is read.
//
// What is written: columns of texts, 64-bit integers, doubles, booleans and times, each required,
// optional or, for texts, repeated; data pages of version 1, with values that are plain or numbers
// of words in a dictionary; the least and the greatest value of each chunk.
package parquetfile
