//! The way to one server or to a cluster.
//!
//! The cluster's client would send a command again after a broken connection, when it may have been
//! carried out. So it may not retry at all, and what a node turned away is sent again from here.

use std::time::Duration;

use redis::aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig};
use redis::cluster::ClusterClientBuilder;
use redis::cluster_async::ClusterConnection;
use redis::cluster_routing::{Route, SingleNodeRoutingInfo, SlotAddr};
use redis::{Client, Cmd, ErrorKind, IntoConnectionInfo, Pipeline, RedisResult, ServerErrorKind};
use redis::{Value, cmd};

use super::failure::was_turned_away;
use crate::address::Address;

/// How often a command is sent again that a node of a cluster turned away: slots that move and
/// masters that fail take seconds to settle.
const TURNED_AWAY_MAX: usize = 20;
/// How long to wait between.
const BETWEEN: Duration = Duration::from_millis(100);
/// How often a lost connection is made anew before a command fails.
const RECONNECTS: usize = 1;

/// Connections that any task may use at once.
pub(super) enum Link {
    One(ConnectionManager),
    Cluster(ClusterConnection),
}

impl Link {
    pub(super) async fn open(
        address: &Address,
        is_cluster: bool,
        timeout_ms: u64,
    ) -> RedisResult<Link> {
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Another thread may have been faster, with the same choice.
            drop(rustls::crypto::ring::default_provider().install_default());
        }
        let timeout = Duration::from_millis(timeout_ms);
        if is_cluster {
            let hosts = address.hosts().split(',').filter(|host| !host.is_empty());
            let urls: Vec<String> =
                hosts.map(|host| address.for_client(address.scheme(), Some(host), "")).collect();
            let client = ClusterClientBuilder::new(urls)
                .retries(0)
                .connection_timeout(timeout)
                .response_timeout(timeout)
                .build()?;
            return Ok(Link::Cluster(client.get_async_connection().await?));
        }
        let url = address.for_client(address.scheme(), None, address.path());
        let info = url.as_str().into_connection_info()?;
        // Proxies close the connection on what they don't know, and a name is of no use to us.
        let settings = info.redis_settings().clone().set_skip_set_lib_name();
        let client = Client::open(info.set_redis_settings(settings))?;
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(timeout))
            .set_response_timeout(Some(timeout))
            .set_number_of_retries(RECONNECTS);
        Ok(Link::One(client.get_connection_manager_with_config(config).await?))
    }

    pub(super) fn is_cluster(&self) -> bool {
        matches!(self, Link::Cluster(_))
    }

    /// Sends one command: what a service does at every request.
    pub(super) async fn ask(&self, command: &Cmd) -> RedisResult<Value> {
        match self {
            Link::One(connection) => {
                connection.clone().req_packed_command(command).await?.extract_error()
            }
            Link::Cluster(_) => {
                // In a box, because redirections make this future large, and whoever asks one
                // server would carry its room along.
                let answers = Box::pin(self.ask_all(std::slice::from_ref(command))).await?;
                Ok(answers.into_iter().next().unwrap_or(Value::Nil))
            }
        }
    }

    /// Sends commands of one key at once; an error of any is the error of all.
    pub(super) async fn ask_all(&self, commands: &[Cmd]) -> RedisResult<Vec<Value>> {
        match self {
            Link::One(connection) => send_one(connection.clone(), commands).await,
            Link::Cluster(connection) => {
                let mut turned_away = 0;
                loop {
                    let error = match send_cluster(connection.clone(), commands, None).await {
                        Ok(values) => return Ok(values),
                        Err(error) => error,
                    };
                    if error.kind() == ErrorKind::Server(ServerErrorKind::Ask) {
                        let node = error.redirect_node().and_then(|(node, _)| {
                            let (host, port) = node.rsplit_once(':')?;
                            Some((host.to_owned(), port.parse().ok()?))
                        });
                        let asked = match node {
                            Some((host, port)) => {
                                let node = SingleNodeRoutingInfo::ByAddress { host, port };
                                send_asking(connection.clone(), commands, node).await
                            }
                            None => Err(error),
                        };
                        match asked {
                            Err(error) if was_turned_away(&error) => {}
                            asked => return asked,
                        }
                    } else if !was_turned_away(&error) {
                        return Err(error);
                    }
                    turned_away += 1;
                    if turned_away > TURNED_AWAY_MAX {
                        return Err(redis::RedisError::from((
                            ErrorKind::ClusterConnectionNotFound,
                            "the cluster turned the command away again and again",
                        )));
                    }
                    tokio::time::sleep(BETWEEN).await;
                }
            }
        }
    }

    /// Sends commands to the server, or to a master of the cluster: by its address where the client
    /// knows it by that, or else by a slot. The client learns of slots that moved only from keys.
    pub(super) async fn ask_master(
        &self,
        host: &str,
        port: u16,
        slot: u16,
        commands: &[Cmd],
    ) -> RedisResult<Vec<Value>> {
        match self {
            Link::One(connection) => send_one(connection.clone(), commands).await,
            Link::Cluster(connection) => {
                let host = host.to_owned();
                let route = SingleNodeRoutingInfo::ByAddress { host, port };
                let sent = send_cluster(connection.clone(), commands, Some(route)).await;
                match sent {
                    Err(error) if error.kind() == ErrorKind::ClusterConnectionNotFound => {
                        let route = Route::new(slot, SlotAddr::Master);
                        let route = SingleNodeRoutingInfo::SpecificNode(route);
                        send_cluster(connection.clone(), commands, Some(route)).await
                    }
                    sent => sent,
                }
            }
        }
    }
}

async fn send_one(mut connection: ConnectionManager, commands: &[Cmd]) -> RedisResult<Vec<Value>> {
    if let [command] = commands {
        return Ok(vec![connection.req_packed_command(command).await?.extract_error()?]);
    }
    let pipeline = pipeline(commands);
    let answers = connection.req_packed_commands(&pipeline, 0, commands.len()).await?;
    answers.into_iter().map(Value::extract_error).collect()
}

async fn send_cluster(
    mut connection: ClusterConnection,
    commands: &[Cmd],
    route: Option<SingleNodeRoutingInfo>,
) -> RedisResult<Vec<Value>> {
    let pipeline = pipeline(commands);
    let answers = match (route, commands) {
        (Some(route), _) => connection.route_pipeline(pipeline, 0, commands.len(), route).await?,
        (None, [command]) => vec![connection.req_packed_command(command).await?],
        (None, _) => connection.req_packed_commands(&pipeline, 0, commands.len()).await?,
    };
    answers.into_iter().map(Value::extract_error).collect()
}

/// Asks the node that a slot is moving to, which answers only who says so.
async fn send_asking(
    mut connection: ClusterConnection,
    commands: &[Cmd],
    node: SingleNodeRoutingInfo,
) -> RedisResult<Vec<Value>> {
    let mut asking = Vec::with_capacity(commands.len() * 2);
    for command in commands {
        asking.extend([cmd("ASKING"), command.clone()]);
    }
    let count = asking.len();
    let answers = connection.route_pipeline(pipeline(&asking), 0, count, node).await?;
    answers.into_iter().skip(1).step_by(2).map(Value::extract_error).collect()
}

fn pipeline(commands: &[Cmd]) -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(commands.len());
    for command in commands {
        pipeline.add_command(command.clone());
    }
    pipeline
}
