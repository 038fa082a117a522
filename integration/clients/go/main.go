// go-redis with a server: a broad script, one line for each answer, in both protocols. The test
// compares what it prints through the sidecar and directly. Argument: the port.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

func say(value any, err error) {
	if err != nil {
		fmt.Println("error", strings.Fields(err.Error())[0])
		return
	}
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}

func session(port string, protocol int) {
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port, Protocol: protocol})
	defer client.Close()
	small := strings.Repeat(`{"sku":"SKU-1","price":12.50},`, 20)
	large := strings.Repeat(small, 1000)
	binary := make([]byte, 70000)
	for at := range binary {
		binary[at] = byte(at * 7)
	}
	client.FlushAll(ctx)
	say(client.Set(ctx, "cart:1", small, 0).Result())
	say(client.Get(ctx, "cart:1").Result())
	say(client.SetArgs(ctx, "cart:1", large, redis.SetArgs{Get: true, TTL: 1000 * time.Second}).Result())
	ttl, err := client.TTL(ctx, "cart:1").Result()
	say(ttl > 900*time.Second, err)
	say(client.GetRange(ctx, "cart:1", 3, 40).Result())
	say(client.StrLen(ctx, "cart:1").Result())
	say(client.MSet(ctx, "cart:2", large, "plain", small).Result())
	say(client.MGet(ctx, "cart:1", "none", "cart:2", "plain").Result())
	say(client.Set(ctx, "cart:b", binary, 0).Result())
	got, err := client.Get(ctx, "cart:b").Bytes()
	say(bytes.Equal(got, binary), err)
	say(client.HSet(ctx, "cart:h", "a", small, "b", large, "c", 5).Result())
	say(client.HGetAll(ctx, "cart:h").Result())
	say(client.HIncrBy(ctx, "cart:h", "c", 2).Result())
	say(client.HMGet(ctx, "cart:h", "a", "none", "c").Result())
	say(client.SetNX(ctx, "cart:1", small, 0).Result())
	say(client.GetSet(ctx, "cart:3", small).Result())
	say(client.GetSet(ctx, "cart:3", large).Result())
	say(client.GetDel(ctx, "cart:3").Result())
	say(client.GetEx(ctx, "cart:2", time.Hour).Result())
	say(client.Incr(ctx, "cart:n").Result())
	say(client.IncrByFloat(ctx, "cart:n", 0.5).Result())
	say(client.RPush(ctx, "cart:l", small, "x", "y").Result())
	say(client.LRange(ctx, "cart:l", 0, -1).Result())
	say(client.BLPop(ctx, time.Second, "cart:l").Result())
	say(client.ZAdd(ctx, "cart:z", redis.Z{Score: 1, Member: "a"}, redis.Z{Score: 2.5, Member: "b"}).Result())
	say(client.ZRangeWithScores(ctx, "cart:z", 0, -1).Result())
	say(client.XAdd(ctx, &redis.XAddArgs{Stream: "cart:x", ID: "1-1", Values: []string{"f", small}}).Result())
	say(client.XRange(ctx, "cart:x", "-", "+").Result())
	say(client.Rename(ctx, "cart:2", "cart:22").Result())
	say(client.Exists(ctx, "cart:2", "cart:22").Result())
	say(client.Copy(ctx, "cart:22", "cart:23", 0, false).Result())
	say(client.Get(ctx, "cart:23").Result())
	var keys []string
	scan := client.Scan(ctx, 0, "cart:*", 3).Iterator()
	for scan.Next(ctx) {
		keys = append(keys, scan.Val())
	}
	sort.Strings(keys)
	say(keys, scan.Err())
	commands, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for number := range 1000 {
			pipe.Set(ctx, fmt.Sprint("cart:p", number), small+fmt.Sprint(number), 0)
			pipe.Get(ctx, fmt.Sprint("cart:p", number))
		}
		return nil
	})
	say(len(commands), err)
	for _, command := range commands {
		if get, ok := command.(*redis.StringCmd); ok {
			say(get.Result())
		}
	}
	watched := func(changes bool) {
		err := client.Watch(ctx, func(tx *redis.Tx) error {
			if changes {
				client.Set(ctx, "cart:1", "changed", 0)
			}
			commands, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
				pipe.Get(ctx, "cart:1")
				pipe.Incr(ctx, "count")
				pipe.HGetAll(ctx, "cart:h")
				return nil
			})
			if err == nil {
				say(commands[0].(*redis.StringCmd).Val(), nil)
				say(commands[2].(*redis.MapStringStringCmd).Val(), nil)
			}
			return err
		}, "cart:1")
		say("transaction", err)
	}
	watched(false)
	watched(true)
	say(client.LPush(ctx, "cart:1", "x").Result())
	say(client.Do(ctx, "NOSUCH", "x").Result())
	listener := client.Subscribe(ctx, "news")
	_, err = listener.Receive(ctx)
	say("subscribed", err)
	say(client.Publish(ctx, "news", large).Result())
	message, err := listener.ReceiveMessage(ctx)
	say(message.Payload, err)
	listener.Close()
	say(redis.NewScript("return {KEYS[1], ARGV[1] * 2}").Run(ctx, client, []string{"plain"}, 21).Result())
	other := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port, Protocol: protocol, DB: 3})
	say(other.Get(ctx, "cart:1").Result())
	other.Close()
	conn := client.Conn()
	say(conn.ClientSetName(ctx, "me").Result())
	say(conn.ClientGetName(ctx).Result())
	conn.Close()
}

func main() {
	session(os.Args[1], 2)
	session(os.Args[1], 3)
}
