package nodeapi

// Shards is the answer of GET /v1/shards.
type Shards struct {
	Shards []Shard `json:"shards"`
}

// Shard is how many nodes have a shard; "None" stands for those in none.
type Shard struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}
