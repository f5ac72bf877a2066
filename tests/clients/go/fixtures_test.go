// Package clients: the newest Go SDKs against a running server.
package clients

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

var (
	ctx     = context.Background()
	account = os.Getenv("KYANITE_ACCOUNT")
	key     = os.Getenv("KYANITE_KEY")
)

// A refusal is to be seen at once, and as the first request got it.
func once() azcore.ClientOptions {
	return azcore.ClientOptions{Retry: policy.RetryOptions{MaxRetries: -1}}
}

func newName() string {
	return "n" + hex.EncodeToString(noise(12))
}

func noise(length int) []byte {
	data := make([]byte, length)
	_, _ = rand.Read(data)
	return data
}

func pointer[T any](value T) *T { return &value }

// must is for what has to work; the value goes on.
func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func worked[T any](t *testing.T, _ T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func refused[T any](t *testing.T, status int, code string, _ T, err error) {
	t.Helper()
	var said *azcore.ResponseError
	if !errors.As(err, &said) {
		t.Fatalf("not refused: %v", err)
	}
	if said.StatusCode != status || said.ErrorCode != code {
		t.Fatalf("refused with %d %s instead of %d %s", said.StatusCode, said.ErrorCode, status, code)
	}
}

func read(t *testing.T, body io.ReadCloser) []byte {
	t.Helper()
	defer body.Close()
	return must(io.ReadAll(body))(t)
}

func sameBytes(t *testing.T, got, wanted []byte) {
	t.Helper()
	if !bytes.Equal(got, wanted) {
		t.Fatalf("%d other bytes than the %d wanted", len(got), len(wanted))
	}
}

func same[T comparable](t *testing.T, got, wanted T) {
	t.Helper()
	if got != wanted {
		t.Fatalf("%v instead of %v", got, wanted)
	}
}

func sameList[T comparable](t *testing.T, got, wanted []T) {
	t.Helper()
	if !slices.Equal(got, wanted) {
		t.Fatalf("%v instead of %v", got, wanted)
	}
}
