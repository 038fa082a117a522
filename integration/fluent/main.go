// Sends through Fluentd's own client library for Go, which waits for the acknowledgement of every
// event before the next one.
//
// Usage: fluent PORT COUNT
package main

import (
	"log"
	"os"
	"strconv"

	"github.com/fluent/fluent-logger-golang/fluent"
)

func main() {
	port, err := strconv.Atoi(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	count, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	for _, isAsync := range []bool{false, true} {
		logger, err := fluent.New(fluent.Config{
			FluentHost: "127.0.0.1", FluentPort: port, RequestAck: true, SubSecondPrecision: true,
			Async: isAsync,
		})
		if err != nil {
			log.Fatal(err)
		}
		for number := 0; number < count; number++ {
			event := map[string]interface{}{"number": number, "async": isAsync}
			if err := logger.Post("go.test", event); err != nil {
				log.Fatal(err)
			}
		}
		// An asynchronous one sends what it holds before it closes.
		if err := logger.Close(); err != nil {
			log.Fatal(err)
		}
	}
}
