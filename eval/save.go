package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The files of a saved run.
const (
	RunFile      = "run.json"       // the report without its episodes
	RecordsFile  = "records.jsonl"  // what --json prints
	EpisodesFile = "episodes.jsonl" // every episode with its calls, verdict and series
	PageFile     = "report.html"    // the page that report writes beside them
)

// maxLine bounds one saved episode.
const maxLine = 64 << 20

// saved is the content of RunFile: the report without its episodes, and what every other file of the folder hashed to
// when the run was saved.
type saved struct {
	Report
	Last Last              `json:"last"`
	Sums map[string]string `json:"sums"` // path from the folder → SHA-256, hex
}

// ErrChanged is a saved run that is not as it was saved.
var ErrChanged = errors.New("eval: the saved run was changed")

// Save writes a report into a folder, which is made if it is missing. Files that lie there already (the suite, the
// contract, traces) are sealed with it.
func Save(dir string, r *Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("eval: save: %w", err)
	}
	var records, episodes bytes.Buffer
	if err := WriteJSON(&records, r); err != nil {
		return err
	}
	for i := range r.Episodes {
		if err := writeLine(&episodes, r.Episodes[i]); err != nil {
			return err
		}
	}
	for name, content := range map[string][]byte{RecordsFile: records.Bytes(), EpisodesFile: episodes.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("eval: save: %w", err)
		}
	}
	sums, err := sumsOf(dir)
	if err != nil {
		return fmt.Errorf("eval: save: %w", err)
	}
	head, err := json.MarshalIndent(saved{Report: *r, Last: r.Last(), Sums: sums}, "", "  ")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, RunFile), head, 0o644)
	}
	if err != nil {
		return fmt.Errorf("eval: save: %w", err)
	}
	return nil
}

// sumsOf hashes every file below the folder, but RunFile itself and the page that report writes.
func sumsOf(dir string) (map[string]string, error) {
	sums := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || name == RunFile || name == PageFile {
			return err
		}
		content, err := os.ReadFile(path)
		sums[filepath.ToSlash(name)] = sum(string(content))
		return err
	})
	return sums, err
}

// LoadRun reads a saved report back. A file that was added, removed or changed after the run is ErrChanged; so is an
// episode that does not have the signature it was saved with.
func LoadRun(dir string) (Report, error) {
	var r saved
	head, err := os.ReadFile(filepath.Join(dir, RunFile))
	if err != nil {
		return Report{}, fmt.Errorf("eval: load: %w", err)
	}
	if err := json.Unmarshal(head, &r); err != nil {
		return Report{}, fmt.Errorf("eval: load %s: %w", RunFile, err)
	}
	sums, err := sumsOf(dir)
	if err != nil {
		return Report{}, fmt.Errorf("eval: load: %w", err)
	}
	for name := range sums {
		if r.Sums[name] != sums[name] {
			return Report{}, fmt.Errorf("%w: %s", ErrChanged, name)
		}
	}
	for name := range r.Sums {
		if sums[name] == "" {
			return Report{}, fmt.Errorf("%w: %s is missing", ErrChanged, name)
		}
	}
	f, err := os.Open(filepath.Join(dir, EpisodesFile))
	if err != nil {
		return Report{}, fmt.Errorf("eval: load: %w", err)
	}
	episodes, err := readEpisodes(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return Report{}, err
	}
	r.Episodes = episodes
	if r.Report.Last() != r.Last {
		return Report{}, fmt.Errorf("%w: the episodes are not those of the run", ErrChanged)
	}
	return r.Report, nil
}

func readEpisodes(from io.Reader) ([]Episode, error) {
	var out []Episode
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var e Episode
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("eval: load %s:%d: %w", EpisodesFile, n, err)
		}
		if e.Signature != signEpisode(&e) {
			return nil, fmt.Errorf("%w: %s:%d: %s", ErrChanged, EpisodesFile, n, e.ID)
		}
		out = append(out, e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("eval: load %s: %w", EpisodesFile, err)
	}
	return out, nil
}

// Episode returns the episode of the id.
func (r *Report) Episode(id string) (*Episode, bool) {
	for i := range r.Episodes {
		if r.Episodes[i].ID == id {
			return &r.Episodes[i], true
		}
	}
	return nil, false
}
