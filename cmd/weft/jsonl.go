package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxAsked bounds a line of --jsonl, in bytes: a page of 16 MiB has 22 in base64.
const maxAsked = 32 << 20

// refusal is the error of a line of --jsonl that cannot be answered.
type refusal struct {
	kind string // json, or the name of the field that is wrong
	text string
}

func (r *refusal) Error() string { return r.text }

func refuse(kind, format string, args ...any) error {
	return &refusal{kind, fmt.Sprintf(format, args...)}
}

// fromBase64 decodes a field of a line. A missing one is refused.
func fromBase64(field string, value *string) ([]byte, error) {
	if value == nil {
		return nil, refuse(field, "no %s, expected bytes in base64", field)
	}
	b, err := base64.StdEncoding.DecodeString(*value)
	if err != nil {
		return nil, refuse(field, "%s: %v", field, err)
	}
	return b, nil
}

// answerLines reads each line of a file (args, or standard input) into a Q and prints the
// object that answer returns, with the line's id as its first member; or its refusal. It
// prints before it reads the next line, so that a program can ask one thing at a time. Empty
// lines are skipped.
func answerLines[Q any](command string, args []string, answer func(Q) (any, error)) error {
	path := "-"
	if len(args) > 0 {
		path = args[0]
	}
	f, err := openFile(command, path, fileOrInput)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, maxAsked)
	out := terminal(os.Stdout)
	for number := 1; ; number++ {
		line, err := in.ReadSlice('\n')
		long := false
		for errors.Is(err, bufio.ErrBufferFull) {
			long = true
			_, err = in.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return &exit{exitError, fmt.Errorf("%s: %w", command, reason(err))}
		}
		var reply []byte
		switch {
		case long:
			reply = appendAnswer(nil, number, nil, refuse("json", "longer than %d bytes", maxAsked))
		case len(bytes.TrimSpace(line)) > 0:
			reply = answerLine(command, number, line, answer)
		}
		if len(reply) > 0 {
			if _, err := out.Write(reply); err != nil {
				return standardOutput(err)
			}
		}
		if err != nil {
			return nil
		}
	}
}

func answerLine[Q any](command string, number int, line []byte, answer func(Q) (any, error)) []byte {
	var asked struct {
		ID json.RawMessage `json:"id"`
	}
	var q Q
	err := json.Unmarshal(line, &asked)
	if err == nil {
		err = json.Unmarshal(line, &q)
	}
	var mistyped *json.UnmarshalTypeError
	switch {
	case err == nil && string(bytes.TrimSpace(line)) == "null":
		err = errors.New("null")
	case errors.As(err, &mistyped) && mistyped.Field != "":
		return appendAnswer(asked.ID, number, nil,
			refuse("json", "%s: a %s, expected a %v", mistyped.Field, mistyped.Value, mistyped.Type))
	case mistyped != nil:
		err = errors.New(mistyped.Value)
	}
	if err != nil {
		return appendAnswer(asked.ID, number, nil,
			refuse("json", "%v, expected an object, see weft %s --help-all", err, command))
	}
	object, err := answer(q)
	return appendAnswer(asked.ID, number, object, err)
}

// appendAnswer returns the line that answers line number. Errors have a kind if they are
// refusals.
func appendAnswer(id json.RawMessage, number int, answer any, err error) []byte {
	if err != nil {
		failed := struct {
			Error string `json:"error"`
			Kind  string `json:"kind"`
		}{Error: fmt.Sprintf("line %d: %v", number, err), Kind: "error"}
		var r *refusal
		if errors.As(err, &r) {
			failed.Kind = r.kind
		}
		answer = failed
	}
	var object bytes.Buffer
	if err := newEncoder(&object).Encode(answer); err != nil {
		panic("weft: an answer that is not JSON: " + err.Error()) // answers hold strings and numbers only
	}
	if len(id) == 0 {
		return object.Bytes()
	}
	line := append([]byte(`{"id":`), id...)
	if object.Len() > len("{}\n") {
		line = append(line, ',')
	}
	return append(line, object.Bytes()[1:]...)
}
