// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"cermic/reproduce/web"
)

func webCommand() *cobra.Command {
	var dir string
	var port uint16
	cmd := &cobra.Command{
		Use:     "web",
		Short:   "Train in the browser: serve a page without installation, or write it to a folder",
		Example: "  web -o page",
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := repository()
			if err != nil {
				return err
			}
			if dir != "" {
				return web.Build(cmd.Context(), root, dir)
			}
			temp, err := os.MkdirTemp("", "cermic-web")
			if err == nil {
				defer os.RemoveAll(temp)
				err = web.Build(cmd.Context(), root, temp)
			}
			if err != nil {
				return err
			}
			listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "Open http://%s in a browser; ctrl-c ends the server.\n", listener.Addr())
			server := &http.Server{Handler: http.FileServer(http.Dir(temp))}
			context.AfterFunc(cmd.Context(), func() { server.Close() })
			if err := server.Serve(listener); cmd.Context().Err() == nil {
				return err
			}
			return cmd.Context().Err()
		},
	}
	cmd.Flags().StringVarP(&dir, "output", "o", "", "write the page into this `folder`, for any web server, and end")
	cmd.Flags().Uint16Var(&port, "port", 8000, "`port` to serve on; 0 takes a free one")
	return cmd
}
