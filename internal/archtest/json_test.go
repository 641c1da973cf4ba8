package archtest

import (
	"go/ast"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// snakeCase is the form of every JSON key.
var snakeCase = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// foreign are keys of formats that others have defined.
var foreign = map[string]string{
	"mainPageUrl":  "WACZ 1.1.1",
	"mainPageDate": "WACZ 1.1.1",

	"ruleId": "SARIF 2.1.0", "physicalLocation": "SARIF 2.1.0", "artifactLocation": "SARIF 2.1.0",
	"startLine": "SARIF 2.1.0", "startColumn": "SARIF 2.1.0",
	"traceId": "OTLP 1.0", "spanId": "OTLP 1.0", "parentSpanId": "OTLP 1.0",
	"startTimeUnixNano": "OTLP 1.0", "endTimeUnixNano": "OTLP 1.0",
	"sessionId":        "Chrome DevTools Protocol",
	"shortDescription": "SARIF 2.1.0", "defaultConfiguration": "SARIF 2.1.0",
	"rawHtml": "Firecrawl v2", "publishedTime": "Firecrawl v2", "modifiedTime": "Firecrawl v2", "sourceURL": "Firecrawl v2", "statusCode": "Firecrawl v2", "contentType": "Firecrawl v2",
	"fullPage": "Firecrawl v2", "checkPromptInjection": "Firecrawl v2", "invalidURLs": "Firecrawl v2", "creditsUsed": "Firecrawl v2", "robotsBlocked": "Firecrawl v2", "teamId": "Firecrawl v2", "webhookId": "Firecrawl v2",
}

// TestJSONKeys: every key is in snake case, and no exported field of a struct with keys is without
// one, which would appear under its Go name.
func TestJSONKeys(t *testing.T) {
	for _, f := range files(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			s, ok := n.(*ast.StructType)
			if !ok {
				return true
			}
			tagged := 0
			for _, field := range s.Fields.List {
				key, ok := jsonKey(field)
				if !ok {
					continue
				}
				tagged++
				if key != "-" && foreign[key] == "" && !snakeCase.MatchString(key) {
					t.Errorf("%s: JSON key %q, expected snake_case", f.at(field), key)
				}
			}
			for _, field := range s.Fields.List {
				if _, ok := jsonKey(field); tagged > 0 && !ok && len(field.Names) > 0 && field.Names[0].IsExported() {
					t.Errorf("%s: %s has no JSON key, and others of its struct have", f.at(field), field.Names[0])
				}
			}
			return true
		})
	}
}

// jsonKey returns the JSON key of a field.
func jsonKey(field *ast.Field) (key string, ok bool) {
	if field.Tag == nil {
		return "", false
	}
	tag, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return "", false
	}
	key, ok = reflect.StructTag(tag).Lookup("json")
	key, _, _ = strings.Cut(key, ",")
	return key, ok
}
