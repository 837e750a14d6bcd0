package openstack

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// RabbitMQ is Debian's package rabbitmq-server, with Erlang's port mapper.
type RabbitMQ struct {
	service
	mapper service
}

// rabbitUser is the user that RabbitMQ has from the first, with the same password, for the loopback alone.
const rabbitUser = "guest"

// rabbitServer is the server itself: the rabbitmq-server of /usr/sbin changes to a user of its own first.
const rabbitServer = "/usr/lib/rabbitmq/bin/rabbitmq-server"

// StartRabbitMQ makes a RabbitMQ in a folder, and starts it.
func StartRabbitMQ(ctx context.Context, at Place, dir string) (*RabbitMQ, error) {
	r := &RabbitMQ{}
	var err error
	if r.mapper, err = newService(at, "epmd", "erlang-base", "epmd", dir); err != nil {
		return nil, err
	}
	if r.service, err = newService(at, "rabbitmq", "rabbitmq-server", rabbitServer, dir); err != nil {
		return nil, err
	}
	distribution, err := r.freeAddress()
	if err != nil {
		return nil, err
	}
	_, peers, _ := net.SplitHostPort(distribution) // our own
	// The program would start a mapper that outlives it.
	host, mapper := r.mapper.hostPort()
	if err := r.mapper.startUntil(ctx, r.mapper.connects, "epmd", "-address", host, "-port", mapper); err != nil {
		return nil, err
	}
	_, port := r.hostPort()
	r.env = []string{
		"ERL_EPMD_PORT=" + mapper, "ERL_EPMD_ADDRESS=" + host,
		"RABBITMQ_NODENAME=rabbit@localhost", "RABBITMQ_NODE_IP_ADDRESS=" + host, "RABBITMQ_NODE_PORT=" + port,
		"RABBITMQ_DIST_PORT=" + peers,
		"RABBITMQ_MNESIA_BASE=" + r.file("mnesia"), "RABBITMQ_LOG_BASE=" + r.file("log"),
		"RABBITMQ_CONF_ENV_FILE=/dev/null", "RABBITMQ_CONFIG_FILE=" + r.file("rabbitmq"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + r.file("plugins"), "RABBITMQ_PID_FILE=" + r.file("pid"),
	}
	if err := r.startUntil(ctx, r.connects, rabbitServer); err != nil {
		return nil, errors.Join(err, r.mapper.Stop())
	}
	return r, nil
}

// URL is the bus for oslo.messaging.
func (r *RabbitMQ) URL() string {
	return fmt.Sprintf("rabbit://%s:%s@%s/", rabbitUser, rabbitUser, r.address)
}

// Stop ends it, and the mapper.
func (r *RabbitMQ) Stop() error { return errors.Join(r.service.Stop(), r.mapper.Stop()) }
