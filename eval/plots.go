package eval

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Colours by meaning. The page's style sheet gives each its value in light and in dark; in the drawing they are marks.
var (
	inkDone    = color.RGBA{0x01, 0x99, 0x01, 0xff}
	inkClaimed = color.RGBA{0x02, 0x02, 0x99, 0xff}
	inkFalse   = color.RGBA{0x99, 0x03, 0x03, 0xff}
	inkGrid    = color.RGBA{0xdd, 0xdd, 0xd4, 0xff}
	inkForce   = color.RGBA{0x99, 0x55, 0x05, 0xff}
	inkJaw     = color.RGBA{0x66, 0x06, 0x99, 0xff}
	inkPhase   = color.RGBA{0x77, 0x77, 0x07, 0xff}
)

// svg draws on a canvas of the size in points and returns it ready to stand in a page: it fills its column, takes the
// page's colours and font, and is named for those who cannot see it.
func svg(width, height vg.Length, label string, paint func(draw.Canvas)) (template.HTML, error) {
	c := vgsvg.New(width, height)
	paint(draw.New(c))
	var out bytes.Buffer
	if _, err := c.WriteTo(&out); err != nil {
		return "", fmt.Errorf("eval: plot: %w", err)
	}
	text := out.String()
	text = text[max(0, strings.Index(text, "<svg")):]
	text = strings.Replace(text, fmt.Sprintf(`width="%gpt" height="%gpt"`, width.Points(), height.Points()),
		fmt.Sprintf(`role="img" aria-label="%s"`, template.HTMLEscapeString(label)), 1)
	for mark, name := range map[color.RGBA]string{
		inkDone: "--done", inkClaimed: "--claimed", inkFalse: "--false", inkGrid: "--grid", inkForce: "--force", inkJaw: "--jaw", inkPhase: "--phase",
	} {
		text = strings.ReplaceAll(text, fmt.Sprintf("#%02X%02X%02X", mark.R, mark.G, mark.B), "var("+name+")")
	}
	text = strings.NewReplacer("#FFFFFF", "none", "#000000", "var(--ink)", "font-family:Liberation Sans;", "", "font-family:Liberation Serif;", "").Replace(text)
	return template.HTML(text), nil
}

// newPlot returns a bare plot in the page's look.
func newPlot(yLabel string) *plot.Plot {
	p := plot.New()
	p.Y.Label.Text = yLabel
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Width, axis.Tick.Width = 0.5, 0.5
		axis.Label.TextStyle.Font.Variant, axis.Tick.Label.Font.Variant = "Sans", "Sans"
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size = 9, 8
	}
	p.Title.TextStyle.Font.Variant, p.Title.TextStyle.Font.Size = "Sans", 10
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color, grid.Horizontal.Width = inkGrid, 0.5
	p.Add(grid)
	return p
}

const barWidth = vg.Length(11)

// claimsPlot draws, for each agent under one gate setting, what was done beside what was claimed; false claims stand
// on top of true ones. Whiskers are 95 % intervals over distinct outcomes.
func claimsPlot(groups []Group, gate string) (template.HTML, error) {
	p := newPlot("share of distinct outcomes")
	p.Title.Text = "gate " + strings.ToUpper(gate)
	var done, honest, lied plotter.Values
	var names []string
	var whiskers [2]intervals
	for _, g := range groups {
		if g.Gate != gate {
			continue
		}
		n, x := float64(g.Distinct), float64(len(names))
		names = append(names, g.Agent)
		done = append(done, float64(g.DoneRate.K)/n)
		honest = append(honest, float64(g.DoneGivenClaimed.K)/n)
		lied = append(lied, float64(g.DoneGivenClaimed.N-g.DoneGivenClaimed.K)/n)
		whiskers[0].add(x, g.DoneRate)
		whiskers[1].add(x, g.ClaimRate)
	}
	if len(names) == 0 {
		return "", nil
	}
	half := barWidth / 2
	_, err1 := bars(p, done, inkDone, -half, nil)
	truths, err2 := bars(p, honest, inkClaimed, half, nil)
	_, err3 := bars(p, lied, inkFalse, half, truths)
	if err := firstError(err1, err2, err3); err != nil {
		return "", err
	}
	p.NominalX(names...)
	p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/6, draw.XRight, draw.YCenter
	p.Y.Min, p.Y.Max, p.X.Min, p.X.Max = 0, 1.05, -0.6, float64(len(names))-0.4
	p.Y.Tick.Marker = plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: 0.25}, {Value: 0.5, Label: "0.5"}, {Value: 0.75}, {Value: 1, Label: "1"}}
	label := fmt.Sprintf("Share done and share claimed of each agent, gate %s", gate)
	return svg(vg.Length(max(420, 90+48*len(names))), 220, label, func(c draw.Canvas) {
		p.Draw(c)
		area := p.DataCanvas(c)
		for i, offset := range []vg.Length{-half, half} {
			whiskers[i].draw(p, area, offset)
		}
	})
}

func bars(p *plot.Plot, v plotter.Values, ink color.Color, offset vg.Length, on *plotter.BarChart) (*plotter.BarChart, error) {
	b, err := plotter.NewBarChart(v, barWidth)
	if err != nil {
		return nil, fmt.Errorf("eval: plot: %w", err)
	}
	b.Color, b.LineStyle.Width, b.Offset = ink, 0, offset
	if on != nil {
		b.StackOn(on)
	}
	p.Add(b)
	return b, nil
}

// intervals are the whiskers of one row of bars.
type intervals []struct{ x, low, high float64 }

func (iv *intervals) add(x float64, p Proportion) {
	*iv = append(*iv, struct{ x, low, high float64 }{x, p.Low, p.High})
}

func (iv intervals) draw(p *plot.Plot, c draw.Canvas, offset vg.Length) {
	toX, toY := p.Transforms(&c)
	style := draw.LineStyle{Color: color.Black, Width: 0.8}
	for _, w := range iv {
		x, low, high := toX(w.x)+offset, toY(w.low), toY(w.high)
		c.StrokeLine2(style, x, low, x, high)
		c.StrokeLine2(style, x-2, low, x+2, low)
		c.StrokeLine2(style, x-2, high, x+2, high)
	}
}

// timelinePlot draws tip height, table force and jaw gap of one episode over its time, with its phases.
func timelinePlot(e *Episode) (template.HTML, error) {
	if len(e.Series) < 2 {
		return "", nil
	}
	rows := []struct {
		label string
		ink   color.Color
		of    func(*Sample) float64
		least float64 // the axis covers at least 0 to this
	}{
		{"tip z, cm", inkClaimed, func(s *Sample) float64 { return s.TipZCm }, 5},
		{"table force, N", inkForce, func(s *Sample) float64 { return s.TableForceN }, 6},
		{"jaw gap, mm", inkJaw, func(s *Sample) float64 { return s.JawGapMm }, 10},
	}
	plots := make([][]*plot.Plot, len(rows))
	for i, row := range rows {
		p := newPlot(row.label)
		line, err := plotter.NewLine(seriesOf(e, row.of))
		if err != nil {
			return "", fmt.Errorf("eval: plot: %w", err)
		}
		line.Color, line.Width = row.ink, 1.2
		p.Add(line)
		p.Y.Min, p.Y.Max = math.Min(p.Y.Min, 0), math.Max(p.Y.Max, row.least)
		p.X.Min, p.X.Max = float64(e.Series[0].AtMs)/1000, float64(e.Series[len(e.Series)-1].AtMs)/1000
		plots[i] = []*plot.Plot{p}
	}
	plots[len(rows)-1][0].X.Label.Text = "time, s"
	label := fmt.Sprintf("Tip height, table force and jaw gap over time in %s", e.ID)
	return svg(640, 300, label, func(c draw.Canvas) {
		tiles := draw.Tiles{Rows: len(rows), Cols: 1, PadY: 6, PadTop: 16, PadRight: 8}
		for i, row := range plot.Align(plots, tiles, c) {
			plots[i][0].Draw(row[0])
			phases(plots[i][0], plots[i][0].DataCanvas(row[0]), e, i == 0)
		}
	})
}

func seriesOf(e *Episode, of func(*Sample) float64) plotter.XYs {
	out := make(plotter.XYs, 0, len(e.Series))
	for i := range e.Series {
		s := &e.Series[i]
		out = append(out, plotter.XY{X: float64(s.AtMs) / 1000, Y: of(s)})
	}
	return out
}

// phases draws a line where a phase begins, and its name where there is room.
func phases(p *plot.Plot, c draw.Canvas, e *Episode, named bool) {
	toX, _ := p.Transforms(&c)
	style := draw.LineStyle{Color: inkPhase, Width: 0.5, Dashes: []vg.Length{2, 2}}
	font := p.X.Tick.Label
	font.Color, font.Font.Size, font.XAlign, font.YAlign = inkPhase, 7, draw.XLeft, draw.YBottom
	last, free := "", vg.Length(math.Inf(-1))
	for i := range e.Series {
		phase := e.Series[i].Phase
		if phase == last {
			continue
		}
		last = phase
		x := toX(float64(e.Series[i].AtMs) / 1000)
		c.StrokeLine2(style, x, c.Min.Y, x, c.Max.Y)
		if named && phase != "" && x >= free {
			c.FillText(font, vg.Point{X: x + 1, Y: c.Max.Y + 2}, phase)
			free = x + font.Width(phase) + 4
		}
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
