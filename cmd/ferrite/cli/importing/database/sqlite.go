package database

import (
	"database/sql"
	"fmt"
	"io"
	"net/url"
	"os"

	_ "modernc.org/sqlite" // the driver sqlite
)

// magic is how a file of SQLite begins.
const magic = "SQLite format 3"

// openSQLite opens a file that is there, while Ironic may write into it.
func openSQLite(file string) (*sql.DB, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(f, head); err != nil || string(head) != magic {
		return nil, fmt.Errorf("it is no database of SQLite: expected %s", forms)
	}
	return sql.Open("sqlite", "file:"+(&url.URL{Path: file}).EscapedPath()+"?mode=ro&_pragma=busy_timeout(10000)")
}
