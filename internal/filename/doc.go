// Package filename makes names of files for URLs.
//
// Whatever a URL holds, its name is a path within a folder that every file system allows. What is
// written stays within that folder, too: symbolic links in it are not followed.
package filename
