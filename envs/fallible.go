// SPDX-License-Identifier: Apache-2.0

package envs

// Fallible is implemented by environments that rest on something outside of the program, which can fail and never does the same
// twice.
type Fallible interface {
	// Err is why the environment cannot go on, or nil. What a Reset or Step showed after which it is not nil means nothing.
	Err() error
	// Close gives back what the environment holds. It is of no use afterwards.
	Close()
}

// Err is why env cannot go on: nil for one that cannot fail. Whoever plays asks after every Reset and Step.
func Err(env Env) error {
	if f, ok := env.(Fallible); ok {
		return f.Err()
	}
	return nil
}

// Close gives back what env holds, if it holds anything.
func Close(env Env) {
	if f, ok := env.(Fallible); ok {
		f.Close()
	}
}
