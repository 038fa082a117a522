// A server that speaks MongoDB's protocol and keeps its documents in SQLite, for the black-box
// tests: no registry that a bare machine reaches carries MongoDB itself.
//
// FerretDB's own command does not build outside its repository, so this is the package that it
// documents for embedding. That package sends no telemetry. The server ends on SIGTERM.
package main

import (
	"context"
	"flag"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/FerretDB/FerretDB/ferretdb"
)

func main() {
	listen := flag.String("listen", "", "address and port to listen on")
	folder := flag.String("folder", "", "folder for the databases, which must exist")
	flag.Parse()

	until, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	warnings := &slog.HandlerOptions{Level: slog.LevelWarn}
	server, err := ferretdb.New(&ferretdb.Config{
		Listener:  ferretdb.ListenerConfig{TCP: *listen},
		Handler:   "sqlite",
		SQLiteURL: "file:" + *folder + "/",
		Logger:    slog.New(slog.NewTextHandler(os.Stderr, warnings)),
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := server.Run(until); err != nil {
		log.Fatal(err)
	}
}
