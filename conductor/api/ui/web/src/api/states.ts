// Generated: go test ./conductor/api/ui -run Generated -update

// verbs are what an operator may ask for in each state, in the table's order.
export const verbs: Record<string, { verb: string; to: string; why: string }[]> = {
  "active": [
    {
      "verb": "rebuild",
      "to": "deploying",
      "why": "write the image again, keep the instance"
    },
    {
      "verb": "delete",
      "to": "deleting",
      "why": "the instance is done with"
    },
    {
      "verb": "rescue",
      "to": "rescuing",
      "why": "boot a ramdisk to repair it by hand"
    },
    {
      "verb": "service",
      "to": "servicing",
      "why": "change the machine under a living workload"
    }
  ],
  "adopt failed": [
    {
      "verb": "adopt",
      "to": "adopting",
      "why": "try again"
    },
    {
      "verb": "manage",
      "to": "manageable",
      "why": "give up on taking it over"
    }
  ],
  "adopting": [],
  "available": [
    {
      "verb": "deploy",
      "to": "deploying",
      "why": "put an operating system on it"
    },
    {
      "verb": "manage",
      "to": "manageable",
      "why": "take it out of the pool"
    }
  ],
  "clean failed": [
    {
      "verb": "manage",
      "to": "manageable",
      "why": "an operator has checked it"
    }
  ],
  "clean hold": [
    {
      "verb": "abort",
      "to": "clean failed",
      "why": "an operator gives up"
    },
    {
      "verb": "unhold",
      "to": "clean wait",
      "why": "an operator continues it at the next heartbeat"
    }
  ],
  "clean wait": [
    {
      "verb": "abort",
      "to": "clean failed",
      "why": "an operator stops it, where the step allows"
    }
  ],
  "cleaning": [],
  "deleting": [],
  "deploy failed": [
    {
      "verb": "rebuild",
      "to": "deploying",
      "why": "try again with the same instance"
    },
    {
      "verb": "deploy",
      "to": "deploying",
      "why": "try again"
    },
    {
      "verb": "delete",
      "to": "deleting",
      "why": "give up and clean it"
    }
  ],
  "deploy hold": [
    {
      "verb": "unhold",
      "to": "wait call-back",
      "why": "an operator continues it at the next heartbeat"
    },
    {
      "verb": "abort",
      "to": "deploy failed",
      "why": "an operator gives up"
    }
  ],
  "deploying": [],
  "enroll": [
    {
      "verb": "manage",
      "to": "verifying",
      "why": "check that the BMC answers to these credentials"
    }
  ],
  "error": [
    {
      "verb": "rebuild",
      "to": "deploying",
      "why": "write the image again"
    },
    {
      "verb": "delete",
      "to": "deleting",
      "why": "try the tear-down again"
    }
  ],
  "inspect failed": [
    {
      "verb": "manage",
      "to": "manageable",
      "why": "an operator accepts the known data"
    },
    {
      "verb": "inspect",
      "to": "inspecting",
      "why": "try again"
    }
  ],
  "inspect wait": [
    {
      "verb": "abort",
      "to": "inspect failed",
      "why": "an operator will not wait any longer"
    }
  ],
  "inspecting": [],
  "manageable": [
    {
      "verb": "provide",
      "to": "cleaning",
      "why": "wipe the data of the last owner, then offer the machine"
    },
    {
      "verb": "clean",
      "to": "cleaning",
      "why": "the steps an operator listed; ends in manageable again"
    },
    {
      "verb": "inspect",
      "to": "inspecting",
      "why": "read the machine's hardware"
    },
    {
      "verb": "adopt",
      "to": "adopting",
      "why": "it already runs a workload: take it over untouched"
    }
  ],
  "rescue": [
    {
      "verb": "rescue",
      "to": "rescuing",
      "why": "another password, a fresh ramdisk"
    },
    {
      "verb": "delete",
      "to": "deleting",
      "why": "the instance is done with"
    },
    {
      "verb": "unrescue",
      "to": "unrescuing",
      "why": "the repair is done"
    }
  ],
  "rescue failed": [
    {
      "verb": "rescue",
      "to": "rescuing",
      "why": "try again"
    },
    {
      "verb": "unrescue",
      "to": "unrescuing",
      "why": "leave it as it is"
    },
    {
      "verb": "delete",
      "to": "deleting",
      "why": "give up on the instance"
    }
  ],
  "rescue wait": [
    {
      "verb": "abort",
      "to": "rescue failed",
      "why": "an operator gives up"
    },
    {
      "verb": "delete",
      "to": "deleting",
      "why": "not wanted any more"
    }
  ],
  "rescuing": [],
  "service failed": [
    {
      "verb": "service",
      "to": "servicing",
      "why": "try again"
    },
    {
      "verb": "rescue",
      "to": "rescuing",
      "why": "repair it by hand"
    },
    {
      "verb": "delete",
      "to": "deleting",
      "why": "give up on the instance"
    },
    {
      "verb": "abort",
      "to": "active",
      "why": "back to the workload as it is"
    }
  ],
  "service hold": [
    {
      "verb": "service",
      "to": "servicing",
      "why": "continue with other steps"
    },
    {
      "verb": "unhold",
      "to": "service wait",
      "why": "an operator continues it at once"
    },
    {
      "verb": "abort",
      "to": "service failed",
      "why": "an operator gives up"
    }
  ],
  "service wait": [
    {
      "verb": "abort",
      "to": "service failed",
      "why": "an operator stops it, where the step allows"
    },
    {
      "verb": "delete",
      "to": "deleting",
      "why": "not wanted any more"
    }
  ],
  "servicing": [],
  "unrescue failed": [
    {
      "verb": "rescue",
      "to": "rescuing",
      "why": "repair it by hand"
    },
    {
      "verb": "unrescue",
      "to": "unrescuing",
      "why": "try again"
    },
    {
      "verb": "delete",
      "to": "deleting",
      "why": "give up on the instance"
    }
  ],
  "unrescuing": [],
  "verifying": [],
  "wait call-back": [
    {
      "verb": "abort",
      "to": "deploy failed",
      "why": "an operator stops it, where the step allows"
    },
    {
      "verb": "delete",
      "to": "deleting",
      "why": "not wanted any more"
    }
  ]
}
