package storage

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// message is one line between the two programs; peer.mjs says what they mean.
type message struct {
	ID    int64  `json:"id,omitempty"`
	Ask   int64  `json:"ask,omitempty"`
	Call  string `json:"call,omitempty"`
	Cache string `json:"cache,omitempty"`
	Key   string `json:"key,omitempty"`
	Watch int64  `json:"watch,omitempty"`

	Progress bool            `json:"progress,omitempty"`
	Options  any             `json:"options,omitempty"`
	Request  *sourceRequest  `json:"request,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Frame    string          `json:"frame,omitempty"`
	End      bool            `json:"end,omitempty"`
	Error    *failure        `json:"error,omitempty"`
}

// failure is an error with the Status that it has, if any.
type failure struct {
	Message string         `json:"message"`
	Status  *metav1.Status `json:"status,omitempty"`
}

func failureOf(err error) *failure {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		said := status.Status()
		return &failure{Message: err.Error(), Status: &said}
	}
	return &failure{Message: err.Error()}
}

func (f *failure) err() error {
	if f.Status == nil {
		return errors.New(f.Message)
	}
	return &apierrors.StatusError{ErrStatus: *f.Status}
}

// asker answers what the source of a cache is asked. It does not block.
type asker func(asked message)

// peer is the process of Node in which the package runs. All caches of a run share it.
type peer struct {
	process *exec.Cmd
	stdin   io.WriteCloser

	writing sync.Mutex
	mux     sync.Mutex
	ids     int64
	waiting map[int64]chan message
	sources map[string]asker
	gone    chan struct{}
}

func startPeer() (*peer, error) {
	node := os.Getenv("NODE")
	if node == "" {
		node = "node"
	}
	process := exec.Command(node, "peer.mjs")
	process.Stderr = os.Stderr
	stdin, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("node is needed, and the package must be built: %w", err)
	}
	p := &peer{process: process, stdin: stdin, waiting: map[int64]chan message{}, sources: map[string]asker{}, gone: make(chan struct{})}
	go p.read(stdout)
	return p, nil
}

// stop ends the process: it leaves when nothing more can come.
func (p *peer) stop() error {
	p.stdin.Close()
	<-p.gone
	return p.process.Wait()
}

func (p *peer) read(stdout io.Reader) {
	defer close(p.gone)
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var said message
		if err := json.Unmarshal(line, &said); err != nil {
			panic(fmt.Sprintf("a line of peer.mjs cannot be read: %v: %s", err, line))
		}
		p.mux.Lock()
		source, answered := p.sources[said.Cache], p.waiting[said.ID]
		delete(p.waiting, said.ID)
		p.mux.Unlock()
		switch {
		case said.Ask != 0 && source != nil:
			source(said)
		case said.Ask != 0: // of a cache that was closed
		case answered != nil:
			answered <- said
		}
	}
}

func (p *peer) send(said message) {
	line, err := json.Marshal(said)
	if err != nil {
		panic(err)
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	// Where the process is gone, whoever waits hears of it.
	_, _ = p.stdin.Write(append(line, '\n'))
}

func (p *peer) serve(cache string, source asker) {
	p.mux.Lock()
	defer p.mux.Unlock()
	if source == nil {
		delete(p.sources, cache)
	} else {
		p.sources[cache] = source
	}
}

// call asks the process, and reads what it answers into result. Returns the id of the question.
func (p *peer) call(ctx context.Context, asked message, result any) (int64, error) {
	answer := make(chan message, 1)
	p.mux.Lock()
	p.ids++
	asked.ID = p.ids
	p.waiting[asked.ID] = answer
	p.mux.Unlock()
	p.send(asked)
	select {
	case said := <-answer:
		if said.Error != nil {
			return asked.ID, said.Error.err()
		}
		if result == nil {
			return asked.ID, nil
		}
		return asked.ID, json.Unmarshal(said.Result, result)
	case <-ctx.Done():
		return asked.ID, ctx.Err()
	case <-p.gone:
		return asked.ID, errors.New("the process of Node has ended")
	}
}
