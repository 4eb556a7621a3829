// SPDX-License-Identifier: Apache-2.0

package nb

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/gif"
	"strings"

	"github.com/janpfeifer/gonb/gonbui/protocol"
	"gonum.org/v1/plot"

	"cermic/cermiclib/results"
	"cermic/viz"
)

// content is one value in every format that a front end may choose from.
type content = map[protocol.MIMEType]any

// Show displays values one below the other: plots, panels, images, films, grids, tables, boxes, records and groups of them, and text as Markdown. An error
// among them ends the cell with its sentence and nil is skipped, so that results can be shown as they come:
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
			send(&protocol.DisplayData{Data: Must(render(v))})
		}
	}
}

// render turns a value into content. Plots become bitmaps, because every viewer of notebooks shows those.
func render(v any) (content, error) {
	switch v := v.(type) {
	case *plot.Plot:
		return picture(viz.Image(v, viz.Width, viz.Height))
	case viz.Panels:
		return picture(v.Image())
	case image.Image:
		return picture(v)
	case *gif.GIF:
		return film(v)
	case viz.Grid:
		if err := v.Check(); err != nil {
			return nil, err
		}
		return content{protocol.MIMETextHTML: v.HTML(), protocol.MIMETextPlain: v.Text(100)}, nil
	case viz.Box:
		return content{protocol.MIMETextHTML: v.HTML(), protocol.MIMETextPlain: v.Plain()}, nil
	case viz.Table:
		return content{protocol.MIMETextHTML: v.HTML(), protocol.MIMETextPlain: v.Text()}, nil
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

// summary is one line a record: what was run, how far it got, how it played last.
func summary(rs []*results.Record) content {
	head := []string{"run", "task", "method", "seed", "budget", "frames", "last score", "machine", "time"}
	var page, plain strings.Builder
	page.WriteString("<table><tr><th>" + strings.Join(head, "</th><th>") + "</th></tr>\n")
	for _, r := range rs {
		frames := viz.Short(float64(r.Frames))
		if !r.Complete {
			frames += " (partial)"
		}
		id := r.ID[:min(8, len(r.ID))]
		score := viz.Missing
		if len(r.Evals) > 0 {
			score = fmt.Sprintf("%.4g", r.Score())
		}
		machine, took := viz.Missing, viz.Missing
		if r.Host.Backend != "" { // known when the run is complete
			machine, took = fmt.Sprintf("%s, %s, %d cores", r.Host.Backend, r.Host.CPU, r.Host.Cores), viz.Clock(r.Host.Seconds)
		}
		line := []string{id, r.Task, r.Method, fmt.Sprint(r.Seed), r.Budget, frames, score, machine, took}
		plain.WriteString(strings.Join(line, "  ") + "\n")
		for i := range line {
			line[i] = html.EscapeString(line[i])
		}
		page.WriteString("<tr><td>" + strings.Join(line, "</td><td>") + "</td></tr>\n")
	}
	page.WriteString("</table>\n")
	return content{protocol.MIMETextHTML: page.String(), protocol.MIMETextPlain: plain.String()}
}
