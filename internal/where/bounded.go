package where

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/weftcrawl/weft/internal/pattern"
)

// mostPattern is the highest cost of the expressions of a stranger's condition: see pattern.Cost.
const mostPattern = 10_000

// plainFunctions make nothing that is longer than what they are given.
var plainFunctions = []string{"len", "lower", "upper", "trim", "trimPrefix", "trimSuffix", "hasPrefix", "hasSuffix", "indexOf", "lastIndexOf", "abs", "int", "float"}

// Bounded refuses a condition of somebody who is not trusted unless its work on a record is bounded
// by its own length and that of the record: it compares values, and has no loop, no variable, and
// nothing that makes a text longer. Mistakes of other kinds are those of Compile.
func Bounded(condition string) error {
	if len(condition) > longest {
		return nil
	}
	tree, err := parser.Parse(condition)
	if err != nil {
		return nil
	}
	b := &bounds{room: mostPattern}
	ast.Walk(&tree.Node, b)
	return b.err
}

// bounds looks at the parts of a condition.
type bounds struct {
	room int // see mostPattern
	err  error
}

// Visit looks at a part.
func (b *bounds) Visit(node *ast.Node) {
	refuse := func(what string) {
		if b.err == nil {
			b.err = fmt.Errorf("%s: expected a comparison of fields, as only the operator's conditions may have loops, variables, and texts put together", what)
		}
	}
	switch n := (*node).(type) {
	case *ast.NilNode, *ast.IdentifierNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode, *ast.ConstantNode, *ast.UnaryNode,
		*ast.ChainNode, *ast.MemberNode, *ast.ConditionalNode, *ast.ArrayNode:
	case *ast.BuiltinNode:
		b.call(n.Name, refuse)
	case *ast.CallNode:
		name, _ := n.Callee.(*ast.IdentifierNode)
		if name == nil {
			refuse("a call")
			return
		}
		b.call(name.Value, refuse)
	case *ast.BinaryNode:
		b.binary(n, refuse)
	default:
		refuse(strings.ToLower(strings.TrimSuffix(reflect.TypeOf(n).Elem().Name(), "Node")))
	}
}

func (b *bounds) call(name string, refuse func(string)) {
	for _, plain := range plainFunctions {
		if name == plain {
			return
		}
	}
	refuse(fmt.Sprintf("%.64s()", name))
}

func (b *bounds) binary(n *ast.BinaryNode, refuse func(string)) {
	switch n.Operator {
	case "..":
		refuse("..")
	case "+":
		if !isNumber(n.Left) && !isNumber(n.Right) {
			refuse("+")
		}
	case "matches":
		text, ok := n.Right.(*ast.StringNode)
		if !ok {
			refuse("matches with an expression that is no text")
			return
		}
		if b.room -= pattern.Cost(text.Value); b.room < 0 {
			refuse("matches with a long expression")
		}
	}
}

func isNumber(n ast.Node) bool {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return true
	}
	return false
}
