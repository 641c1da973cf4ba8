package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/config"
	"github.com/weftcrawl/weft/internal/render"
)

// loginFlags are the options of weft login.
type loginFlags struct {
	client  clientFlags
	recipe  weft.Login
	session string
}

func loginCommand() *cobra.Command {
	var f loginFlags
	cmd := &cobra.Command{
		Use:     "login [flags] [URL]",
		Short:   "Log in to a site, for crawls that need it",
		GroupID: sectionCrawl,
		Long: `Log in to a site in a browser without a window, and keep the session in a file:
the cookies, and what the pages have stored. weft crawl --session FILE uses it.

The recipe stands in weft.toml. --config weft.toml names that file, as one that
is only found may be a stranger's. A crawl with it uses the session, too:

  [login]
  url = "https://example.org/login"
  success = ".account"

  [login.fields]
  user = "ada"
  password = "$PASSWORD"

A field is found by its name, or by a CSS selector. "$NAME" is the value of a
variable of the environment, "@FILE" what a file has.

Without fields, a browser opens in which you log in; it requests by itself, and
has a new profile, which is removed. Then close it, or press Enter here.`,
		Annotations: detailed(`
The fields may be those of several pages, one after the other. Requests are made
by weft, and POSTs go to the sites of the URL and of the pages that are shown.

A SIGN is a CSS selector, text= with a text that the page has, or a URL, or the
path of one, in which * stands for anything. Without --success, a login has
succeeded when no page asks for a password any more. A crawl is logged out when
a page has --signed-out, is the login page, or redirects there: then it pauses.

Exit status: 0 logged in; 1 not; 3 usage error; 5 interrupted.`),
		Example: `  weft login --config weft.toml
  weft crawl --config weft.toml https://example.org/`,
		Args:              arguments(0, 1, "URL", "one such as https://example.org/login"),
		ValidArgsFunction: nothing,
		RunE:              func(_ *cobra.Command, args []string) error { return f.run(args) },
	}
	define(cmd, append([]group{
		{"Recipe", []option{
			{name: "field", arg: "NAME=VALUE", Value: appended(&f.recipe.Fields, loginField), secret: true,
				help: "fill in a field; repeatable",
				more: "NAME may be a CSS selector. VALUE may be $NAME, of the environment, or @FILE; $$ and @@ begin a VALUE of its own."},
			{name: "submit", arg: "SELECTOR", Value: to(&f.recipe.Submit, some("a CSS selector such as .login")),
				help: "press this button", def: "that of the form"},
			{name: "success", arg: "SIGN", Value: to(&f.recipe.Success, sign), help: "expect SIGN when logged in"},
			{name: "signed-out", arg: "SIGN", Value: to(&f.recipe.SignedOut, sign), help: "have crawls take SIGN for being logged out"},
			{name: "url", arg: "URL", Value: to(&f.recipe.URL, some("a URL")), hidden: true, help: "the login page"},
		}},
		{"Session", []option{
			{name: "session", arg: "FILE", Value: to(&f.session, some("a FILE")), help: "write the session to FILE",
				more: "Default: a file for the host of the URL, below $XDG_STATE_HOME or ~/.local/state. Only you may read it."},
			f.client.browserOption(),
		}},
	}, f.client.groupsOf(f.client.identityOptions(), "16MiB")...)...)
	return cmd
}

// sign reads a sign of being logged in or out.
func sign(s string) (string, error) { return s, weft.CheckSign(s) }

// loginField reads NAME=VALUE. NAME may be a selector with = between brackets.
func loginField(s string) (f weft.LoginField, err error) {
	depth := 0
	for i, c := range s {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == '=' && depth <= 0 && i > 0:
			return weft.LoginField{Name: s[:i], Value: s[i+1:]}, nil
		}
	}
	return f, errors.New("expected NAME=VALUE")
}

// loginFields is the table of a file that holds fields.
const loginFields = "login fields"

// asField returns a key of that table as the option that it stands for.
func asField(o config.Option) (config.Option, error) {
	if o.Command != loginFields {
		return o, nil
	}
	if o.List {
		return o, fmt.Errorf("%s: a list, expected one value", o.Name)
	}
	name := o.Name
	o.Command, o.Name, o.Values = "login", "field", []string{name + "=" + o.Values[0]}
	if f, err := loginField(o.Values[0]); err != nil || f.Name != name {
		return o, fmt.Errorf("%.128q: expected the name of a field, or a CSS selector", name)
	}
	return o, nil
}

// secretValue returns the value of a field: what the environment or a file has, if it says so.
func secretValue(s string) (string, error) {
	switch {
	case strings.HasPrefix(s, "$$"), strings.HasPrefix(s, "@@"):
		return s[1:], nil
	case strings.HasPrefix(s, "$"):
		value, ok := os.LookupEnv(s[1:])
		if !ok {
			return "", fmt.Errorf("$%.64s is not set in the environment", s[1:])
		}
		return value, nil
	case strings.HasPrefix(s, "@"):
		return secretIn(s[1:])
	}
	return s, nil
}

// sessionFile returns the file of sessions of a URL's host.
func sessionFile(address string) (string, error) {
	s, err := weft.ReadSeed(address)
	if err != nil {
		return "", err
	}
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) { // as that standard says
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%w, expected --session FILE", err)
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "weft", strings.TrimSuffix(weft.JobName(s.URL), ".weft")+".session"), nil
}

// run logs in.
func (f *loginFlags) run(args []string) (err error) {
	l := f.recipe
	if len(args) > 0 {
		l.URL = args[0]
	}
	if l.URL == "" {
		return usage("login: no URL, expected one such as https://example.org/login, or a recipe: see weft login --help")
	}
	for i, field := range l.Fields {
		if l.Fields[i].Value, err = secretValue(field.Value); err != nil {
			return usage("login: field %.64q: %w", field.Name, err)
		}
	}
	file := f.session
	if file == "" {
		if file, err = sessionFile(l.URL); err != nil {
			return &exit{exitUsage, err}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(l.Fields) == 0 {
		err = f.byHand(ctx, l, file)
	} else {
		err = f.carryOut(ctx, l, file)
	}
	var wrong *weft.OptionError
	var e *exit
	switch {
	case ctx.Err() != nil:
		return &exit{exitInterrupted, nil}
	case errors.As(err, &e):
		return err
	case errors.As(err, &wrong):
		return &exit{exitUsage, err}
	case err != nil:
		return &exit{exitError, err}
	}
	fmt.Fprintf(os.Stderr, "weft: logged in; the session is in %s\n", printable(file))
	return nil
}

// byHand has a person log in.
func (f *loginFlags) byHand(ctx context.Context, l weft.Login, file string) error {
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return errors.New("no screen for a browser's window ($DISPLAY), expected the fields of a recipe: see weft login --help")
	}
	path, err := render.FindWindows(f.client.render.Browser)
	if err != nil {
		return err
	}
	saySandbox(path)
	opened := func() {
		fmt.Fprintln(os.Stderr, "weft: log in in the window of the browser, which requests by itself; then close it, or press Enter here")
	}
	return weft.LogInByHand(ctx, l, file, path, opened, entered(os.Stdin))
}

// entered returns a channel that is closed when a line was typed.
func entered(in io.Reader) <-chan struct{} {
	typed := make(chan struct{})
	go func() {
		if _, err := bufio.NewReader(in).ReadString('\n'); err == nil {
			close(typed)
		}
	}()
	return typed
}

// carryOut logs in by the recipe.
func (f *loginFlags) carryOut(ctx context.Context, l weft.Login, file string) (err error) {
	o := weft.FetchOptions{Render: f.client.render}
	if o.HTTP, err = f.client.http(); err != nil {
		return err
	}
	f.client.render.Rendering = weft.RenderAlways
	if err := f.client.readyToRender(); err != nil {
		return err
	}
	o.Render.Browser = f.client.render.Browser
	return weft.LogIn(ctx, l, file, o)
}
