//! Connections to the servers that hold the keys: the one that was named, every node of a cluster,
//! or a replica of each.

use std::collections::BTreeSet;

use redis::{
    Cmd, Connection, ConnectionAddr, ConnectionInfo, FromRedisValue, IntoConnectionInfo, Pipeline,
    RedisResult, Value, cmd,
};

use super::failure::explain;
use crate::address::Address;
use crate::error::SampleError;
use crate::options::SampleOptions;

/// A server that holds keys.
pub(super) struct Node<'a> {
    connection: Connection,
    address: &'a Address,
}

impl Node<'_> {
    /// Sends one command.
    pub(super) fn ask<T: FromRedisValue>(&mut self, command: &Cmd) -> Result<T, SampleError> {
        command.query(&mut self.connection).map_err(|error| explain(self.address, &error))
    }

    /// Sends one command of which the server may say that it does not have it, or not for this
    /// user; a connection that broke is an error all the same.
    fn try_ask(&mut self, command: &Cmd) -> Result<Option<Value>, SampleError> {
        match command.query(&mut self.connection) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.is_io_error() || error.is_connection_dropped() => {
                Err(explain(self.address, &error))
            }
            Err(_) => Ok(None),
        }
    }

    /// Sends several commands at once; each has its own answer, which may be an error.
    pub(super) fn ask_all(
        &mut self,
        commands: impl IntoIterator<Item = Cmd>,
    ) -> Result<Vec<RedisResult<Value>>, SampleError> {
        let mut pipeline = Pipeline::new();
        for command in commands {
            pipeline.add_command(command);
        }
        // The client takes a pipeline of nothing for a mistake.
        if pipeline.is_empty() {
            return Ok(Vec::new());
        }
        pipeline
            .ignore_errors()
            .query(&mut self.connection)
            .map_err(|error| explain(self.address, &error))
    }

    /// How many keys it holds.
    pub(super) fn size(&mut self) -> Result<u64, SampleError> {
        self.ask(&cmd("DBSIZE"))
    }
}

/// Connects to every server that has a part of the keys.
pub(super) fn nodes<'a>(
    address: &'a Address,
    options: &SampleOptions,
) -> Result<Vec<Node<'a>>, SampleError> {
    let info = address.text().into_connection_info().map_err(|error| explain(address, &error))?;
    // Proxies close the connection on what they don't know, and a name is of no use to us.
    let redis = info.redis_settings().clone().set_skip_set_lib_name();
    let info = info.set_redis_settings(redis);
    let mut first = connect(address, &info, options)?;
    let slots = first.try_ask(cmd("CLUSTER").arg("SLOTS"))?;
    let hosts = slots.map(|slots| cluster_hosts(&slots, options.replica)).unwrap_or_default();
    if !hosts.is_empty() {
        return hosts
            .into_iter()
            .map(|(host, port)| {
                let mut node = connect(address, &moved(&info, &host, port), options)?;
                if options.replica {
                    // A replica of a cluster sends readers away unless they say so.
                    let _: () = node.ask(&cmd("READONLY"))?;
                }
                Ok(node)
            })
            .collect();
    }
    if !options.replica {
        return Ok(vec![first]);
    }
    let text = first.try_ask(cmd("INFO").arg("replication"))?;
    let text = text.and_then(|value| String::from_redis_value(value).ok()).unwrap_or_default();
    if text.lines().any(|line| line == "role:slave") {
        return Ok(vec![first]);
    }
    match text.lines().find_map(replica_host) {
        Some((host, port)) => Ok(vec![connect(address, &moved(&info, host, port), options)?]),
        None => Err(SampleError::Query {
            address: address.to_string(),
            reason: "no replica is known there; name one as the address, or leave out --replica"
                .to_owned(),
        }),
    }
}

fn connect<'a>(
    address: &'a Address,
    info: &ConnectionInfo,
    options: &SampleOptions,
) -> Result<Node<'a>, SampleError> {
    crate::tls::prepare();
    let open = || {
        let client = redis::Client::open(info.clone())?;
        let connection = client.get_connection_with_timeout(options.timeout)?;
        connection.set_read_timeout(Some(options.timeout))?;
        connection.set_write_timeout(Some(options.timeout))?;
        RedisResult::Ok(connection)
    };
    let connection = open().map_err(|error| explain(address, &error))?;
    Ok(Node { connection, address })
}

/// The same way of connecting, to another host; an empty name is the host that said it.
fn moved(info: &ConnectionInfo, host: &str, port: u16) -> ConnectionInfo {
    let name = |old: &str| if host.is_empty() { old.to_owned() } else { host.to_owned() };
    let moved = match info.addr().clone() {
        ConnectionAddr::TcpTls { host, insecure, tls_params, .. } => {
            ConnectionAddr::TcpTls { host: name(&host), port, insecure, tls_params }
        }
        ConnectionAddr::Tcp(host, _) => ConnectionAddr::Tcp(name(&host), port),
        _ => ConnectionAddr::Tcp(name("127.0.0.1"), port),
    };
    info.clone().set_addr(moved)
}

/// The hosts of `CLUSTER SLOTS`: ranges of slots, each with its master and then its replicas.
fn cluster_hosts(slots: &Value, replica: bool) -> BTreeSet<(String, u16)> {
    let Value::Array(ranges) = slots else { return BTreeSet::new() };
    let host = |range: &Value| {
        let Value::Array(parts) = range else { return None };
        let hosts = parts.get(2..)?;
        let chosen = if replica { hosts.get(1).or(hosts.first()) } else { hosts.first() };
        let Value::Array(host) = chosen? else { return None };
        let name = host.first().cloned().and_then(|name| String::from_redis_value(name).ok());
        let port = host.get(1).cloned().and_then(|port| u16::from_redis_value(port).ok());
        Some((name.unwrap_or_default(), port?))
    };
    ranges.iter().filter_map(host).collect()
}

/// The host of a line such as `slave0:ip=10.0.0.2,port=6379,state=online,offset=1,lag=0`.
fn replica_host(line: &str) -> Option<(&str, u16)> {
    let (name, rest) = line.split_once(':')?;
    let number = name.strip_prefix("slave")?;
    if number.parse::<u32>().is_err() || !rest.contains("state=online") {
        return None;
    }
    let field = |name: &str| rest.split(',').find_map(|field| field.strip_prefix(name));
    Some((field("ip=")?, field("port=")?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_are_found_in_what_info_says() {
        let line = "slave0:ip=10.0.0.2,port=6380,state=online,offset=1,lag=0";
        assert_eq!(replica_host(line), Some(("10.0.0.2", 6380)));
        assert_eq!(replica_host(&line.replace("online", "wait_bgsave")), None);
        assert_eq!(replica_host("slave_repl_offset:1"), None);
    }

    #[test]
    fn each_node_of_a_cluster_is_named_once() {
        let text = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let host = |name: &str, port| Value::Array(vec![text(name), Value::Int(port)]);
        let range = |from, hosts: &[Value]| {
            Value::Array([&[Value::Int(from), Value::Int(from + 9)], hosts].concat())
        };
        let slots = Value::Array(vec![
            range(0, &[host("a", 1), host("b", 2)]),
            range(10, &[host("c", 3)]),
            range(20, &[host("a", 1), host("b", 2)]),
        ]);
        let hosts = |replica| Vec::from_iter(cluster_hosts(&slots, replica));
        assert_eq!(hosts(false), [("a".to_owned(), 1), ("c".to_owned(), 3)]);
        assert_eq!(hosts(true), [("b".to_owned(), 2), ("c".to_owned(), 3)]);
        assert!(cluster_hosts(&Value::Nil, false).is_empty());
    }
}
