// SPDX-License-Identifier: Apache-2.0

package conf

import (
	"bytes"
	"encoding/json"
)

// Values are the settings in the JSON of a config, by their dotted keys and in the form that Set reads, as Keys lists those of a config:
// it also reads what this program has no config for, such as the file of an earlier one.
func Values(data []byte) (map[string]string, error) {
	out := map[string]string{}
	return out, values("", data, out)
}

func values(path string, data json.RawMessage, out map[string]string) error {
	data = bytes.TrimSpace(data)
	switch {
	case bytes.HasPrefix(data, []byte("{")):
		var members map[string]json.RawMessage
		if err := json.Unmarshal(data, &members); err != nil {
			return err
		}
		for key, value := range members {
			at := join(path, key)
			if key == kindKey {
				at = path
			}
			if err := values(at, value, out); err != nil {
				return err
			}
		}
	case bytes.HasPrefix(data, []byte(`"`)):
		var text string
		err := json.Unmarshal(data, &text)
		out[path] = text
		return err
	default:
		out[path] = string(data)
	}
	return nil
}
