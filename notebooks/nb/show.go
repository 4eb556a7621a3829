// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/gif"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"
	"gonum.org/v1/plot"

	"cermic/cermiclib"
	"cermic/cermiclib/results"
	"cermic/viz"
)

// content is one value in every format that a front end may choose from.
type content = map[protocol.MIMEType]any

// asHTML is content for pages, with plain text for other front ends.
func asHTML(page, plain string) content {
	return content{protocol.MIMETextHTML: page, protocol.MIMETextPlain: plain}
}

// Show displays values one below the other: plots, panels, images, films, tables, boxes, records and groups of them,
// and text as Markdown. An error among them ends the cell, and nil is skipped:
//
//	nb.Show(viz.Curves(figure, series...))
func Show(values ...any) {
	for _, v := range values {
		if err, ok := v.(error); ok {
			Check(err)
		}
	}
	for _, v := range values {
		if _, stopped := v.(error); v != nil && !stopped {
			send("", Must(render(v)))
		}
	}
}

// render turns a value into content. Beside the SVG of a plot stands a bitmap, which every viewer shows.
func render(v any) (content, error) {
	switch v := v.(type) {
	case *plot.Plot:
		return drawing(viz.Plotted(v, viz.Width, viz.Height))
	case viz.Panels:
		return drawing(v.Drawing())
	case image.Image:
		return picture(v)
	case *gif.GIF:
		return film(v)
	case viz.ScoreTable:
		return asHTML(v.HTML(), v.Text(100)), nil
	case viz.Box:
		return asHTML(v.HTML(), v.Plain()), nil
	case viz.Table:
		return asHTML(v.HTML(), v.Text()), nil
	case *results.Record:
		return summary([]*results.Record{v}), nil
	case []*results.Record:
		return summary(v), nil
	case []results.Group:
		return summary(results.Flat(v)), nil
	case string:
		return content{protocol.MIMETextMarkdown: v, protocol.MIMETextPlain: v}, nil
	default:
		return content{protocol.MIMETextPlain: fmt.Sprint(v)}, nil
	}
}

// maxSVG is the size in bytes above which a notebook would grow too much.
const maxSVG = 250_000

// drawing is a figure as bitmap and as SVG, unless that is much larger, as of many thousand points.
func drawing(d viz.Drawing) (content, error) {
	svg, err := d.SVG()
	if err != nil {
		return nil, err
	}
	out, err := picture(d.Image())
	if err == nil && len(svg) <= maxSVG {
		out[protocol.MIMEImageSVG] = string(svg)
	}
	return out, err
}

// Save writes a plot, panels or an image to a file that ends in .svg or .png. For example:
//
//	nb.Save("curves.svg", viz.Curves(figure, series...))
//
// Images and films of worlds are bitmaps: they go to .png alone.
func Save(file string, value any, err ...error) {
	for _, e := range err {
		Check(e)
	}
	switch v := value.(type) {
	case *plot.Plot:
		Check(viz.Plotted(v, viz.Width, viz.Height).Write(file))
	case viz.Panels:
		Check(v.Drawing().Write(file))
	case image.Image:
		if filepath.Ext(file) != ".png" {
			Check(fmt.Errorf("%s: this picture is a bitmap, want a name that ends in .png", file))
		}
		Check(viz.WritePNG(file, v))
	default:
		Check(fmt.Errorf("%s: want a plot, panels or an image to write, not a %T", file, value))
	}
	Show("Written: " + file)
}

func picture(m image.Image) (content, error) {
	data, err := viz.PNG(m)
	if err != nil {
		return nil, err
	}
	size := m.Bounds().Size()
	return content{
		protocol.MIMEImagePNG:  data,
		protocol.MIMETextPlain: fmt.Sprintf("figure, %d × %d pixels", size.X, size.Y),
	}, nil
}

// film shows an animation. Not every viewer plays one, so its first frame goes along as an ordinary picture.
func film(g *gif.GIF) (content, error) {
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, g); err != nil {
		return nil, fmt.Errorf("encoding a film: %w", err)
	}
	out, err := picture(g.Image[0])
	if err != nil {
		return nil, err
	}
	out[protocol.MIMETextHTML] = fmt.Sprintf(`<img alt="film of %d frames" src="data:image/gif;base64,%s">`,
		len(g.Image), base64.StdEncoding.EncodeToString(b.Bytes()))
	return out, nil
}

// notes shows warnings as grey notes instead of log lines, which a front end paints red.
type notes struct {
	slog.Handler
	mu    sync.Mutex
	place block // of the notes of the last training; without an ID, each note has its own
	lines []string
}

var warnings = &notes{Handler: slog.DiscardHandler}

func init() {
	if gonbui.IsNotebook {
		slog.SetDefault(slog.New(warnings))
	}
}

// begin makes the notes that follow replace those before.
func (n *notes) begin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.place.id == "" {
		n.place = newBlock()
	}
	n.lines = nil
	n.place.put(asHTML("", ""))
}

func (*notes) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

func (n *notes) Handle(_ context.Context, r slog.Record) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.place.id == "" {
		n.lines = nil
	}
	n.lines = slices.DeleteFunc(n.lines, func(line string) bool { return strings.HasPrefix(line, "Note: "+r.Message) })
	n.lines = append(n.lines, note(r))
	page := html.EscapeString(strings.Join(n.lines, "\n"))
	n.place.put(asHTML(`<small style="opacity:.75;white-space:pre-line">`+page+"</small>", strings.Join(n.lines, "\n")))
	return nil
}

// note is the sentence of a log record and its attributes.
func note(r slog.Record) string {
	var parts []string
	r.Attrs(func(a slog.Attr) bool {
		value := a.Value.String()
		if a.Value.Kind() == slog.KindFloat64 {
			value = viz.Short(a.Value.Float64())
		}
		parts = append(parts, a.Key+" "+value)
		return true
	})
	if len(parts) == 0 {
		return "Note: " + r.Message
	}
	return fmt.Sprintf("Note: %s (%s)", r.Message, strings.Join(parts, ", "))
}

// Beside shows films beside each other, each under its caption.
func Beside(captions []string, films ...*gif.GIF) {
	minus := func(s string) string { return strings.ReplaceAll(s, " -", " −") } // of a negative score
	out, page := content{}, `<div style="display:flex;flex-wrap:wrap;gap:12px">`
	for i, g := range films {
		one := Must(film(g))
		if i == 0 {
			out[protocol.MIMEImagePNG] = one[protocol.MIMEImagePNG]
			out[protocol.MIMETextPlain] = minus(strings.Join(captions, " | "))
		}
		caption := ""
		if i < len(captions) {
			caption = html.EscapeString(minus(captions[i]))
		}
		page += fmt.Sprintf(`<figure style="margin:0"><figcaption>%s</figcaption>%s</figure>`,
			caption, one[protocol.MIMETextHTML])
	}
	out[protocol.MIMETextHTML] = page + "</div>"
	send("", out)
}

// shortID is the beginning of a run's ID, enough to name it.
func shortID(id string) string { return id[:min(8, len(id))] }

// summary is a table of records: settings, progress, and last score.
func summary(rs []*results.Record) content {
	if len(rs) == 0 {
		const none = "No such runs are stored here yet."
		return content{protocol.MIMETextMarkdown: none, protocol.MIMETextPlain: none}
	}
	table := viz.Table{Header: []string{
		"run", "task", "method", "seed", "budget", "frames", "last score", "machine", "time"}}
	for _, r := range rs {
		frames := viz.Short(float64(r.Frames))
		if !r.Complete {
			frames += " (partial)"
		}
		score, machine, took := viz.Missing, viz.Missing, viz.Missing
		if len(r.Evals) > 0 {
			score = fmt.Sprintf("%.4g", r.Score())
		}
		if r.Host.Backend != "" { // known when the run is complete
			machine = fmt.Sprintf("%s, %s, %d cores", r.Host.Backend, cmp.Or(r.Host.GPU, r.Host.CPU), r.Host.Cores)
			took = viz.Clock(r.Host.Seconds)
		}
		budget := r.Budget
		method, base := cermiclib.CutBase(r.Method)
		if base != "" {
			budget = base + ", changed"
		}
		table.Rows = append(table.Rows,
			[]string{shortID(r.ID), r.Task, method, fmt.Sprint(r.Seed), budget, frames, score, machine, took})
	}
	return asHTML(table.HTML(), table.Text())
}
