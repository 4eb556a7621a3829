// SPDX-License-Identifier: Apache-2.0

package envs

// Fallible is implemented by environments that rest on something outside of the program, which can fail and never does the same
// twice.
type Fallible interface {
	// Err is why the environment cannot go on, or nil. What a Reset or Step showed after which it is not nil means nothing.
	Err() error
	// Broken reports whether the episode of copy c that ended in the last Step was broken off by a failure: it is no result.
	Broken(c int) bool
	// Close gives back what the environment holds. It is of no use afterwards.
	Close()
}

// Err is why env cannot go on: nil for one that cannot fail. Whoever plays asks after every Reset and Step. An environment that does as it is
// told may have nothing of Fallible but this: what is wrong with the task that somebody wrote for it.
func Err(env Env) error {
	if f, ok := env.(interface{ Err() error }); ok {
		return f.Err()
	}
	return nil
}

// Broken reports whether the episode of copy c that has just ended was broken off: never where nothing can fail. Whoever counts
// episodes leaves such a one out.
func Broken(env Env, c int) bool {
	f, ok := env.(Fallible)
	return ok && f.Broken(c)
}

// Close gives back what env holds, if it holds anything.
func Close(env Env) {
	if f, ok := env.(Fallible); ok {
		f.Close()
	}
}
