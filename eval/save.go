package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The files of a saved run.
const (
	RunFile      = "run.json"       // the report without its episodes
	RecordsFile  = "records.jsonl"  // what --json prints
	EpisodesFile = "episodes.jsonl" // every episode with its calls, verdict and series
)

// maxLine bounds one saved episode.
const maxLine = 64 << 20

// Save writes a report into a folder, which is made if it is missing.
func Save(dir string, r *Report) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("eval: save: %w", err)
	}
	head, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
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
	for name, content := range map[string][]byte{RunFile: head, RecordsFile: records.Bytes(), EpisodesFile: episodes.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return fmt.Errorf("eval: save: %w", err)
		}
	}
	return nil
}

// LoadRun reads a saved report back. Every episode's signature is computed anew; one that does not match was changed
// after the run and is an error.
func LoadRun(dir string) (Report, error) {
	var r Report
	head, err := os.ReadFile(filepath.Join(dir, RunFile))
	if err != nil {
		return Report{}, fmt.Errorf("eval: load: %w", err)
	}
	if err := json.Unmarshal(head, &r); err != nil {
		return Report{}, fmt.Errorf("eval: load %s: %w", RunFile, err)
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
	return r, nil
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
			return nil, fmt.Errorf("eval: load %s:%d: %s was changed after the run", EpisodesFile, n, e.ID)
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
