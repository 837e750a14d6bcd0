package importing

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx
	_ "modernc.org/sqlite"             // the driver sqlite

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/importing/translate"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// mysqlWay is the way to the secrets of a MySQL or MariaDB.
const mysqlWay = `a MySQL is read by its own client, and the file given to --secrets:
  mysql --batch --skip-column-names ironic -e 'SELECT uuid, driver_info, instance_info FROM nodes' > secrets.tsv`

// readDatabase reads the secrets of nodes and volumes out of Ironic's database, and writes nothing.
func readDatabase(ctx context.Context, where string, into translate.Secrets) error {
	driver, source, err := databaseOf(where)
	if err != nil {
		return err
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return fmt.Errorf("--ironic-database: %w", withoutPassword(err, where))
	}
	defer func() { _ = db.Close() }() // it has only read
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: driver != "sqlite"})
	if err != nil {
		return fmt.Errorf("--ironic-database: %w", withoutPassword(err, where))
	}
	defer func() { _ = tx.Rollback() }() // it has only read
	for _, of := range []struct{ table, fields string }{
		{"nodes", "driver_info,instance_info"}, {"volume_targets", "properties"}} {
		if err := readTable(ctx, tx, of.table, strings.Split(of.fields, ","), into); err != nil {
			return fmt.Errorf("--ironic-database: table %s: %w", of.table, withoutPassword(err, where))
		}
	}
	return nil
}

// databaseOf is the driver and its source of a URL as Ironic's [database] connection has it, or of a file of SQLite.
func databaseOf(where string) (driver, source string, err error) {
	scheme, rest, isURL := strings.Cut(where, "://")
	base, _, _ := strings.Cut(scheme, "+") // mysql+pymysql
	switch {
	case isURL && (base == "mysql" || base == "mariadb"):
		return "", "", fmt.Errorf("--ironic-database: %s", mysqlWay)
	case isURL && (base == "postgresql" || base == "postgres"):
		return "pgx", "postgres://" + rest, nil
	case isURL && base == "sqlite":
		where = strings.TrimPrefix(rest, "/")
	case isURL:
		return "", "", fmt.Errorf("--ironic-database: %q is no kind of database: expected sqlite, postgresql or a file",
			scheme)
	}
	head := make([]byte, 15)
	f, err := os.Open(where)
	if err != nil && !isURL && strings.Contains(where, "@") { // half a URL: an error would have its password
		return "", "", errors.New("--ironic-database: the value is neither a file nor a URL: expected " +
			"postgresql://USER:PASSWORD@HOST/NAME, sqlite:///FILE, or a file of SQLite")
	}
	if err != nil {
		return "", "", fmt.Errorf("--ironic-database: %w", err)
	}
	defer f.Close()
	if _, err := f.Read(head); err != nil || string(head) != "SQLite format 3" {
		return "", "", fmt.Errorf("--ironic-database: %s is no database of SQLite", where)
	}
	return "sqlite", "file:" + (&url.URL{Path: where}).EscapedPath() + "?mode=ro", nil
}

// withoutPassword keeps what a URL names out of errors.
func withoutPassword(err error, where string) error {
	_, rest, _ := strings.Cut(where, "://")
	user := rest[:max(0, strings.LastIndex(rest, "@"))]
	_, password, _ := strings.Cut(user, ":")
	if password == "" {
		return err
	}
	text := strings.ReplaceAll(err.Error(), password, nodeapi.Masked)
	if plain, bad := url.PathUnescape(password); bad == nil {
		text = strings.ReplaceAll(text, plain, nodeapi.Masked)
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}

func readTable(ctx context.Context, tx *sql.Tx, table string, fields []string, into translate.Secrets) error {
	rows, err := tx.QueryContext(ctx, "SELECT uuid, "+strings.Join(fields, ", ")+" FROM "+table) //nolint:gosec // fixed
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // its errors are those of Err
	for rows.Next() {
		var id string
		documents := make([]sql.NullString, len(fields))
		places := []any{&id}
		for i := range documents {
			places = append(places, &documents[i])
		}
		if err := rows.Scan(places...); err != nil {
			return err
		}
		for i, field := range fields {
			if err := into.Add(id, field, []byte(documents[i].String)); err != nil {
				return err
			}
		}
	}
	return rows.Err()
}
