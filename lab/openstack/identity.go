package openstack

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Identity is a small Keystone of our own, in memory: logins by password and the look at a token (Identity API v3). It
// answers at once where Debian's Keystone takes seconds on a busy machine, for suites that test other services.
type Identity struct {
	URL string // with the version

	server    *httptest.Server
	mu        sync.Mutex
	accounts  map[string]Account // by user
	tokens    map[string]any     // their descriptions, by token
	endpoints []any
}

// Account is a user of the domain Default, with one role in one project, or in the system for none.
type Account struct{ User, Password, Project, Role string }

// StartIdentity starts one on the loopback, with its accounts.
func StartIdentity(accounts ...Account) *Identity {
	i := &Identity{accounts: map[string]Account{}, tokens: map[string]any{}}
	for _, a := range accounts {
		i.accounts[a.User] = a
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", i.versions)
	mux.HandleFunc("GET /v3/{$}", i.versions)
	mux.HandleFunc("POST /v3/auth/tokens", i.logIn)
	mux.HandleFunc("GET /v3/auth/tokens", i.look)
	i.server = httptest.NewServer(mux)
	i.URL = i.server.URL + "/v3"
	i.Endpoint("identity", "RegionOne", i.URL)
	return i
}

// Stop ends it.
func (i *Identity) Stop() { i.server.Close() }

// Endpoint puts the URL of a service into the catalogue, as the public one of a region.
func (i *Identity) Endpoint(kind, region, url string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.endpoints = append(i.endpoints, map[string]any{"type": kind, "name": kind, "id": kind + "-" + region,
		"endpoints": []any{map[string]any{"id": region, "interface": "public", "region": region, "region_id": region,
			"url": url}}})
}

func (i *Identity) versions(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusMultipleChoices, map[string]any{"versions": map[string]any{"values": []any{map[string]any{
		"id": "v3.14", "status": "stable", "links": []any{map[string]any{"rel": "self", "href": i.URL + "/"}}}}}})
}

// login is the body of a login by password.
type login struct {
	Auth struct {
		Identity struct {
			Password struct {
				User struct{ Name, Password string }
			}
		}
		Scope struct {
			Project *struct{ Name string }
			System  *struct{ All bool }
		}
	}
}

// logIn gives a user a token of its own scope. A login for another scope is refused.
func (i *Identity) logIn(w http.ResponseWriter, r *http.Request) {
	var l login
	if err := json.NewDecoder(r.Body).Decode(&l); err != nil {
		reply(w, http.StatusBadRequest, map[string]any{"error": map[string]any{"message": err.Error()}})
		return
	}
	user, scope := l.Auth.Identity.Password.User, l.Auth.Scope
	i.mu.Lock()
	defer i.mu.Unlock()
	a, known := i.accounts[user.Name]
	project := ""
	if scope.Project != nil {
		project = scope.Project.Name
	}
	if !known || a.Password != user.Password || a.Project != project || (a.Project == "") != (scope.System != nil) {
		refused(w, http.StatusUnauthorized, "The request you have made requires authentication.")
		return
	}
	secret := "token-" + strconv.Itoa(len(i.tokens))
	i.tokens[secret] = i.token(a)
	w.Header().Set("X-Subject-Token", secret)
	reply(w, http.StatusCreated, i.tokens[secret])
}

// token describes a token of an account.
func (i *Identity) token(a Account) any {
	domain := map[string]any{"id": "default", "name": "Default"}
	now := time.Now().UTC()
	token := map[string]any{"methods": []any{"password"}, "issued_at": now.Format(keystoneTime),
		"expires_at": now.Add(24 * time.Hour).Format(keystoneTime), "audit_ids": []any{"a"}, "catalog": i.endpoints,
		"roles": []any{map[string]any{"id": a.Role, "name": a.Role}},
		"user":  map[string]any{"id": id(a.User), "name": a.User, "domain": domain, "password_expires_at": nil}}
	if a.Project == "" {
		token["system"] = map[string]any{"all": true}
	} else {
		token["project"] = map[string]any{"id": id(a.Project), "name": a.Project, "domain": domain}
	}
	return map[string]any{"token": token}
}

const keystoneTime = "2006-01-02T15:04:05.000000Z"

// id is an identifier of Keystone's form for a name.
func id(name string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(name)))[:32] }

// look answers for a token that a service shows beside its own.
func (i *Identity) look(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	_, own := i.tokens[r.Header.Get("X-Auth-Token")]
	shown, known := i.tokens[r.Header.Get("X-Subject-Token")]
	switch {
	case !own:
		refused(w, http.StatusUnauthorized, "The request you have made requires authentication.")
	case !known:
		refused(w, http.StatusNotFound, "Could not find token: "+strings.TrimSpace(r.Header.Get("X-Subject-Token")))
	default:
		w.Header().Set("X-Subject-Token", r.Header.Get("X-Subject-Token"))
		reply(w, http.StatusOK, shown)
	}
}

func refused(w http.ResponseWriter, status int, why string) {
	reply(w, status, map[string]any{"error": map[string]any{"code": status, "title": http.StatusText(status),
		"message": why}})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a caller that went away needs no answer
}
