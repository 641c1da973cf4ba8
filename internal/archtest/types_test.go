package archtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// product is the module, type-checked for Linux without its tests.
type product struct {
	fset  *token.FileSet
	rooms map[string]*room // by folder, "." for the root
}

// room is a package of the module.
type room struct {
	folder  string
	types   *types.Package
	info    *types.Info
	files   []*ast.File
	imports []string // folders of the module
}

// checked returns the product. It is checked once for all tests of this package.
func checked(t *testing.T) *product {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the files of Linux are counted")
	}
	p, err := checkOnce()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var checkOnce = sync.OnceValues(check)

// listed is a package as `go list` shows it.
type listed struct {
	ImportPath string
	Name       string
	Dir        string
	GoFiles    []string
	Imports    []string
	ImportMap  map[string]string
	Module     struct{ Path string } // empty for the standard library
}

func (l *listed) own() bool { return l.Module.Path == module }

// sources are the positions of all files.
var sources = token.NewFileSet()

// parsedFiles has by path what read has returned: most files are of all systems.
var parsedFiles sync.Map // of func() (*ast.File, error)

// read parses a file once. One of another module lacks the bodies of its functions, and
// the elements of tables whose types are written out.
func read(path string, own bool) (*ast.File, error) {
	parse, _ := parsedFiles.LoadOrStore(path, sync.OnceValues(func() (*ast.File, error) {
		mode := parser.SkipObjectResolution
		if own {
			mode |= parser.ParseComments
		}
		f, err := parser.ParseFile(sources, path, nil, mode)
		if err != nil || own {
			return f, err
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				d.Body = nil
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok && d.Tok == token.VAR && v.Type != nil {
						v.Values = nil
					} else if ok && d.Tok == token.VAR {
						for _, value := range v.Values {
							emptied(value)
						}
					}
				}
			}
		}
		return f, nil
	}))
	return parse.(func() (*ast.File, error))()
}

// emptied removes the elements of a table, but where they say how many it has.
func emptied(value ast.Expr) {
	table, ok := value.(*ast.CompositeLit)
	if !ok {
		return
	}
	if array, ok := table.Type.(*ast.ArrayType); ok && array.Len != nil {
		if _, counted := array.Len.(*ast.Ellipsis); counted {
			return
		}
	}
	table.Elts = nil
}

// checker type-checks from source, so that counting compiles nothing. Only the module's own
// packages are checked with their functions' bodies.
type checker struct {
	os, arch string
	product  *product
	listed   map[string]*listed
	done     map[string]*types.Package
	failed   map[string]error
}

// newChecker returns one for a system. It lists packages and what they import, as arguments of go
// list -deps name them.
func newChecker(system, arch string, packages ...string) (*checker, error) {
	c := &checker{
		os: system, arch: arch,
		product: &product{fset: sources, rooms: make(map[string]*room)},
		listed:  make(map[string]*listed),
		done:    map[string]*types.Package{"unsafe": types.Unsafe},
		failed:  make(map[string]error),
	}
	return c, c.list(packages)
}

func check() (*product, error) {
	c, err := newChecker("linux", runtime.GOARCH, "./...")
	if err != nil {
		return nil, err
	}
	for path, l := range c.listed {
		if !l.own() {
			continue
		}
		if _, err := c.check(path); err != nil {
			return nil, err
		}
	}
	return c.product, nil
}

// list asks the go command which files and imports there are. Without cgo, so that all is Go.
func (c *checker) list(packages []string) error {
	cmd := exec.Command("go", append([]string{"list", "-deps", "-json=ImportPath,Name,Dir,GoFiles,Imports,ImportMap,Module"}, packages...)...)
	cmd.Dir = "../.."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOOS="+c.os, "GOARCH="+c.arch)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	for dec := json.NewDecoder(out); ; {
		var l listed
		if err := dec.Decode(&l); errors.Is(err, io.EOF) {
			return cmd.Wait()
		} else if err != nil {
			return errors.Join(err, cmd.Wait())
		}
		c.listed[l.ImportPath] = &l
	}
}

func (c *checker) check(path string) (*types.Package, error) {
	if p, ok := c.done[path]; ok {
		return p, nil
	}
	if err := c.failed[path]; err != nil {
		return nil, err
	}
	l, ok := c.listed[path]
	if !ok {
		return nil, fmt.Errorf("%s is not listed", path)
	}
	var syntax []*ast.File
	for _, name := range l.GoFiles {
		f, err := read(filepath.Join(l.Dir, name), l.own())
		if err != nil {
			return nil, err
		}
		syntax = append(syntax, f)
	}
	var errs []error
	conf := types.Config{
		Importer:         from{c, l},
		IgnoreFuncBodies: !l.own(),
		Sizes:            types.SizesFor("gc", c.arch),
		Error:            func(err error) { errs = append(errs, err) },
	}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object), Defs: make(map[*ast.Ident]types.Object)}
	pkg, _ := conf.Check(path, c.product.fset, syntax, info)
	if l.own() {
		if len(errs) > 0 {
			c.failed[path] = errs[0]
			return nil, errs[0]
		}
		c.product.rooms[folder(path)] = &room{folder(path), pkg, info, syntax, ownImports(l)}
	}
	c.done[path] = pkg
	return pkg, nil
}

func folder(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

func ownImports(l *listed) (folders []string) {
	for _, path := range l.Imports {
		if path == module || strings.HasPrefix(path, module+"/") {
			folders = append(folders, folder(path))
		}
	}
	slices.Sort(folders)
	return folders
}

// from imports for one package.
type from struct {
	*checker
	l *listed
}

func (f from) Import(path string) (*types.Package, error) {
	if mapped, ok := f.l.ImportMap[path]; ok {
		path = mapped
	}
	return f.check(path)
}
