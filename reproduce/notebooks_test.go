// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"html"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"cermic/cermiclib"
	"cermic/cermiclib/results"
	"cermic/envs"
	"cermic/envs/envtest/must"
	"cermic/reproduce/figures"
	"cermic/reproduce/paper"
	"cermic/reproduce/plan"
	"cermic/reproduce/records"
	"cermic/viz"
)

// committedBooks are the paths of the notebooks.
func committedBooks(t *testing.T) []string {
	t.Helper()
	books := globbed(t, filepath.Join("..", "notebooks", "*.ipynb"))
	if len(books) < 20 {
		t.Fatalf("%d notebooks", len(books))
	}
	return books
}

// htmlOf is all HTML among the outputs of a notebook.
func htmlOf(t *testing.T, path string) string {
	t.Helper()
	var all strings.Builder
	for _, output := range must.Get(outputsOf(path))(t) {
		all.WriteString(strings.Join(output.HTML, ""))
	}
	return all.String()
}

// committedStore opens a store with the committed records alone.
func committedStore(t *testing.T) *results.Store {
	t.Helper()
	st, done, err := storeOf(records.FS)
	must.Do(t, err)
	t.Cleanup(done)
	return st
}

// bookCell is a cell of a notebook.
type bookCell struct {
	Kind   string   `json:"cell_type"`
	Source []string `json:"source"`
}

func cellsOf(t *testing.T, file string) []bookCell {
	t.Helper()
	var book struct{ Cells []bookCell }
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(file))(t), &book))
	return book.Cells
}

// Every notebook asks a question. A notebook of a table or a figure answers it first, behind the form for one number.
// Its first output is a verdict, or says that there is no claim.
func TestNotebooksAskAndThoseOfThePaperAnswerFirst(t *testing.T) {
	for _, file := range committedBooks(t) {
		cells := cellsOf(t, file)
		name := filepath.Base(file)
		if title := strings.TrimSpace(cells[0].Source[0]); !strings.HasPrefix(title, "# ") || !strings.HasSuffix(title, "?") {
			t.Errorf("%s has the title %q, want a question", name, title)
		}
		if !strings.HasPrefix(name, "t") && !strings.HasPrefix(name, "f") {
			continue
		}
		for _, cell := range cells {
			if first := strings.Join(cell.Source, ""); cell.Kind == "code" && !strings.Contains(first, "nb.Cell(") {
				if !strings.Contains(first, "Verdict(") && !strings.Contains(first, "nb.NoClaim(") {
					t.Errorf("%s begins with %q, want a verdict", name, first)
				}
				break
			}
		}
	}
}

// A change of the records or the rules of a claim needs its notebook executed again.
func TestNotebooksShowTodaysVerdicts(t *testing.T) {
	verdicts := must.Get(decide(committedStore(t), paper.Claims))(t)
	for _, file := range committedBooks(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".ipynb")
		shown := htmlOf(t, file)
		for _, v := range verdicts {
			claim := "</b>: " + html.EscapeString(v.Says)
			if want := " " + string(v.State) + claim; (v.Shown == name || strings.Contains(shown, claim)) &&
				!strings.Contains(shown, want) {
				t.Errorf("%s does not show %q: go run ./reproduce notebooks -only %s -write", name, want, name)
			}
		}
	}
}

// New records need the notebooks that show them executed again.
func TestExecutedNotebooksShowTheCommittedRecords(t *testing.T) {
	st := committedStore(t)
	const budget = "short"
	type shown interface{ HTML() string }
	grid := func(table *paper.Benchmark) shown { return must.Get(table.Results(plan.At(st, budget)))(t) }
	rewards := func(suite paper.Suite, methods ...string) shown {
		return must.Get(paper.DenseAndSparse(plan.At(st, budget), suite, methods))(t)
	}
	scores := must.Get(figures.FinalScores(st, []string{"navigation", "balance"}, budget, "dense"))(t)
	memories := func(task string) shown {
		return must.Get(figures.Comparison(must.Get(figures.Memories(st, task, "mappo", budget))(t)))(t)
	}
	for name, tables := range map[string][]shown{
		"t1_performance": {grid(paper.Sota), rewards(paper.VMAS, "mappo", "mappo-cermic")},
		"t2_agents":      {grid(paper.Agents)}, "t3_ablations": {grid(paper.Ablation)},
		"t4_density": {grid(paper.Density), rewards(paper.VMAS, "mappo", "mappo-cermic")},
		"s_battles":  {rewards(paper.SMACv2, "mappo", "mappo-cermic"), rewards(paper.SMACv2, "qmix", "qmix-cermic")},
		"f_curves":   {scores}, "f_memory": {memories("navigation"), memories("flocking")},
	} {
		book := htmlOf(t, filepath.Join("..", "notebooks", name+".ipynb"))
		for _, table := range tables {
			if !strings.Contains(book, table.HTML()) {
				title, _, _ := strings.Cut(strings.TrimPrefix(table.HTML(), `<div style="overflow-x:auto">`), "</p>")
				t.Errorf("%s does not show what the committed records say in %q: go run ./reproduce notebooks -only %s -write",
					name, title, name)
			}
		}
	}
}

// A page scales down wider figures until their text is illegible. A committed figure has data.
func TestFiguresOfNotebooksFitAPage(t *testing.T) {
	const widest = 1100 // pixels
	seen := 0
	for _, file := range committedBooks(t) {
		if bytes.Contains(must.Get(os.ReadFile(file))(t), []byte(">no data<")) {
			t.Errorf("%s has an empty figure", filepath.Base(file))
		}
		for _, output := range must.Get(outputsOf(file))(t) {
			if output.PNG == nil {
				continue
			}
			size, err := png.DecodeConfig(bytes.NewReader(output.PNG))
			if seen++; err != nil || size.Width > widest {
				t.Errorf("%s has a figure of %d pixels, want %d at most: %v", filepath.Base(file), size.Width, widest, err)
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d figures are read", seen)
	}
}

func TestGeneratedPagesAreCurrent(t *testing.T) {
	if testing.Short() {
		t.Skip("it decides every claim, as the test of the notebooks does")
	}
	st := committedStore(t)
	for file, page := range map[string]func(*results.Store) (string, error){claimsFile: claimsPage,
		resultsFile: resultsPage} {
		want := must.Get(page(st))(t)
		if rootFile(t, file) != want {
			t.Errorf("%s is not what the committed records say: write it with -write of claims or results", file)
		}
	}
}

func TestClaimsPrintsEveryVerdictAndItsReason(t *testing.T) {
	store := t.TempDir()
	all := must.Get(command(t, "claims", "-store", store))(t)
	for _, c := range paper.Claims {
		if !strings.Contains(all, " "+c.ID+": "+c.Says) {
			t.Errorf("claims does not print %s", c.ID)
		}
		if _, err := os.Stat(filepath.Join("..", "notebooks", c.Shown+".ipynb")); err != nil {
			t.Errorf("%s: %v", c.ID, err)
		}
	}
	one, err := command(t, "claims", "lifts-mappo", "-store", store)
	if err != nil || !strings.Contains(one, "15 comparisons") {
		t.Errorf("%v: %s", err, one)
	}
}

// param is a variable that a form sets, with the options of its menu. Options follow on further lines of comments.
var param = regexp.MustCompile(`(?m)^var (\w+) = (.*?) // @param ?(.*(?:\n//.*)*)$`)

func TestMenusOfNotebooksOfferWhatThereIs(t *testing.T) {
	tables := map[string]*paper.Benchmark{"t1_performance": paper.Sota, "t2_agents": paper.Agents, "t3_ablations": paper.Ablation, "t4_density": paper.Density}
	heads := func(table *paper.Benchmark) (rows []string) {
		for _, row := range table.Rows {
			rows = append(rows, row.Head)
		}
		return rows
	}
	menus := map[string]int{}
	for _, file := range committedBooks(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".ipynb")
		for _, cell := range cellsOf(t, file) {
			for _, found := range param.FindAllStringSubmatch(strings.Join(cell.Source, ""), -1) {
				variable, options := found[1], strings.Split(strings.ReplaceAll(strings.ReplaceAll(found[3], "\n//", " "), ", ", ","), ",")
				for i := range options {
					options[i] = strings.TrimSpace(options[i])
				}
				options = slices.DeleteFunc(options, func(o string) bool { return o == "" })
				if value := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(found[2], "nb.Budget("), ")"), `"`); len(options) > 1 && !slices.Contains(options, value) {
					t.Errorf("%s: the menu of %s has no option %s", name, variable, value)
				}
				menus[variable]++
				switch variable {
				case "row":
					if want := heads(tables[name]); !slices.Equal(options, want) {
						t.Errorf("%s: rows %q, want %q", name, options, want)
					}
				case "column":
					if want := tables[name].Names(); !slices.Equal(options, want) {
						t.Errorf("%s: columns %q, want %q", name, options, want)
					}
				case "which":
					if want := envs.Names(); !slices.Equal(slices.Sorted(slices.Values(options)), slices.Sorted(slices.Values(want))) {
						t.Errorf("%s: tasks %q, want %q", name, options, want)
					}
				case "task", "method", "learner", "budget":
					for _, o := range options {
						known := map[string]func() error{
							"task":    func() error { _, err := plan.FindTask(o); return err },
							"method":  func() error { _, err := plan.FindMethod(o); return err },
							"learner": func() error { _, err := plan.FindMethod(o + "-cermic"); return err },
							"budget":  func() error { _, err := cermiclib.FindPreset(o); return err },
						}
						if err := known[variable](); err != nil {
							t.Errorf("%s: %s: %v", name, variable, err)
						}
					}
				}
			}
		}
	}
	if menus["row"] != 4 || menus["column"] != 4 || menus["alpha"] != 8 {
		t.Errorf("forms were found with %v", menus)
	}
}

func TestIndexLeadsToEveryNotebookAndItsThumbnail(t *testing.T) {
	folder := filepath.Join("..", "notebooks")
	text := must.Get(os.ReadFile(filepath.Join(folder, "README.md")))(t)
	for _, book := range committedBooks(t) {
		if name := filepath.Base(book); !strings.Contains(string(text), "]("+name+")") {
			t.Errorf("notebooks/README.md does not link to %s", name)
		}
	}
	for _, link := range regexp.MustCompile(`(?:\]\(|src=")([\w./]+)[)"]`).FindAllStringSubmatch(string(text), -1) {
		info, err := os.Stat(filepath.Join(folder, link[1]))
		if err != nil {
			t.Errorf("notebooks/README.md shows what is not there: %v", err)
		} else if strings.HasSuffix(link[1], ".png") && info.Size() > 30_000 { // a page of them loads at once
			t.Errorf("%s has %d bytes, want at most 30,000", link[1], info.Size())
		}
	}
}

func TestThumbnailsAreOfTheFirstPictureAlsoOfAnExecutedCopy(t *testing.T) {
	s := emptyRepository(t)
	picture := image.NewRGBA(image.Rect(0, 0, 600, 1500))
	for i := range picture.Pix {
		picture.Pix[i] = 0xff
	}
	picture.Set(0, 0, color.Black)
	data := must.Get(viz.PNG(picture))(t)
	encoded := base64.StdEncoding.EncodeToString(data)
	full := `{"cells":[{"outputs":[{"name":"stdout"},{"data":{"image/png":"` + encoded + `\n"}}]}]}`
	var books []string
	for _, name := range []string{"kept.ipynb", "bare.ipynb", "none.ipynb"} {
		books = append(books, s.path("notebooks", name))
	}
	write(t, books[0], full, 0o666)
	write(t, books[1], `{"cells":[]}`, 0o666)
	write(t, books[2], `{"cells":[]}`, 0o666)
	write(t, s.path("notebooks", ".executed", "bare.ipynb"), full, 0o666)
	must.Do(t, s.thumbnails(books))
	made, err := filepath.Glob(s.path("reproduce", "jupyter", "thumbnails", "*"))
	if err != nil || len(made) != 2 {
		t.Fatalf("thumbnails %v: %v, want those of the two notebooks with a picture", made, err)
	}
	f := must.Get(os.Open(made[0]))(t)
	defer f.Close()
	small, _, err := image.Decode(f)
	if err != nil || small.Bounds().Dx() != thumbnailWidth || small.Bounds().Dy() != thumbnailWidth {
		t.Errorf("a thumbnail of %v: %v, want a square of %d pixels", small.Bounds(), err, thumbnailWidth)
	}
	must.Do(t, os.WriteFile(books[0], []byte("no JSON"), 0o666))
	must.Refuse(t, s.thumbnails(books), "is no notebook")
}
