package redfish

import "net/http"

const rolePath = accountsPath + "/Roles/Administrator"

// accountService is AccountService.v1_11_0. The one account is the lab's to
// choose, so nothing here can be written.
type accountService struct {
	common
	ServiceEnabled bool
	Status         status
	Accounts       link
	Roles          link
}

func (s *Server) getAccountService(*http.Request) (reply, error) {
	return ok(accountService{
		common:         head(accountsPath, "AccountService.v1_11_0.AccountService", "Account Service"),
		ServiceEnabled: true, Status: enabled(),
		Accounts: link{accountsPath + "/Accounts"}, Roles: link{accountsPath + "/Roles"},
	})
}

// account is ManagerAccount.v1_9_0; a password is always read as null.
type account struct {
	common
	UserName string
	Password *string
	RoleID   string `json:"RoleId"`
	Enabled  bool
	Locked   bool
	Links    accountLinks
}

type accountLinks struct {
	Role link
}

func (s *Server) getAccount(*http.Request) (reply, error) {
	return ok(account{
		common:   head(accountsPath+"/Accounts/1", "ManagerAccount.v1_9_0.ManagerAccount", "Account"),
		UserName: s.config.Username, RoleID: "Administrator", Enabled: true, Links: accountLinks{link{rolePath}},
	})
}

// role is Role.v1_3_1.
type role struct {
	common
	RoleID             string `json:"RoleId"`
	IsPredefined       bool
	AssignedPrivileges []string
}

func (s *Server) getRole(*http.Request) (reply, error) {
	return ok(role{
		common: head(rolePath, "Role.v1_3_1.Role", "Administrator"),
		RoleID: "Administrator", IsPredefined: true,
		AssignedPrivileges: []string{"Login", "ConfigureManager", "ConfigureUsers", "ConfigureComponents", "ConfigureSelf"},
	})
}
