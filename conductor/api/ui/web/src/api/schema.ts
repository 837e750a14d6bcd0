// Generated: go test ./conductor/api/ui -run Generated -update

export type Allocation = {
  candidate_nodes?: Array<string> | null
  created_at?: string | null
  extra?: Record<string, unknown> | null
  last_error?: string | null
  links?: Links
  name?: string | null
  node?: string | null
  node_uuid?: unknown
  owner?: string | null
  resource_class?: string | null
  state?: string | null
  traits?: Array<string> | null
  updated_at?: string | null
  uuid?: string | null
}

export type AllocationCreate = {
  candidate_nodes?: Array<string> | null
  extra?: Record<string, unknown> | null
  name?: string | null
  node?: string | null
  owner?: string | null
  resource_class?: string | null
  traits?: Array<string> | null
  uuid?: string | null
}

export type BiosSetting = {
  allowable_values?: unknown
  attribute_type?: unknown
  created_at?: string | null
  links?: Links
  lower_bound?: unknown
  max_length?: unknown
  min_length?: unknown
  name?: unknown
  read_only?: unknown
  reset_required?: unknown
  unique?: unknown
  updated_at?: string | null
  upper_bound?: unknown
  value?: unknown
}

export type Chassis = {
  created_at?: string | null
  description?: string | null
  extra?: Record<string, unknown> | null
  links?: Links
  nodes?: unknown
  updated_at?: string | null
  uuid?: string | null
}

export type ChassisCreate = {
  description?: string | null
  extra?: Record<string, unknown> | null
  uuid?: string | null
}

export type Conductor = {
  alive?: boolean
  conductor_group?: string
  created_at?: string | null
  drivers?: Array<string>
  hostname?: string
  links?: Links
  updated_at?: string | null
}

export type Connector = {
  connector_id?: string | null
  created_at?: string | null
  extra?: Record<string, unknown> | null
  links?: Links
  node_uuid?: string | null
  type?: string | null
  updated_at?: string | null
  uuid?: string | null
}

export type ConnectorCreate = {
  connector_id: string | null
  extra?: Record<string, unknown> | null
  node_uuid: string | null
  type: string | null
  uuid?: string | null
}

export type Driver = {
  hosts: Array<string>
  links: Links
  name: string
  properties?: Links
  type?: 'classic' | 'dynamic'
}

export type Fault = {
  error_message: string
}

export type FirmwareComponent = {
  component?: unknown
  created_at?: string | null
  current_version?: unknown
  initial_version?: unknown
  last_version_flashed?: unknown
  model?: unknown
  serial_number?: unknown
  updated_at?: string | null
  vendor?: unknown
}

export type HistoryEntry = {
  conductor?: string | null
  created_at: string | null
  duration_seconds?: number | null
  event: string | null
  event_type?: string | null
  links?: Links
  project?: string | null
  severity: string | null
  state?: string | null
  target_provision_state?: string | null
  user?: string | null
  uuid: string
}

export type InspectionRule = {
  actions?: Array<{
    args: Array<unknown> | Record<string, unknown>
    loop?: Array<unknown> | Record<string, unknown>
    op: string
  }> | null
  conditions?: Array<{
    args: Array<unknown> | Record<string, unknown>
    loop?: Array<unknown> | Record<string, unknown>
    multiple?: 'any' | 'all' | 'first' | 'last'
    op: string
  }> | null
  created_at?: string | null
  description?: string | null
  links?: Links
  phase?: string | null
  priority?: number | null
  sensitive?: boolean | null
  updated_at?: string | null
  uuid?: string | null
}

export type InspectionRuleCreate = {
  actions: Array<{
    args: Array<unknown> | Record<string, unknown>
    loop?: Array<unknown> | Record<string, unknown>
    op: string
  }> | null
  conditions?: Array<{
    args: Array<unknown> | Record<string, unknown>
    loop?: Array<unknown> | Record<string, unknown>
    multiple?: 'any' | 'all' | 'first' | 'last'
    op: string
  }> | null
  description?: string | null
  phase?: string | null
  priority?: number | null
  sensitive?: boolean | null
  uuid?: string | null
}

export type Links = Array<{
  href: string
  rel: string
}>

export type Lookup = {
  config: {
    agent_md5_checksum_enable: boolean
    agent_skip_bmc_detect: boolean
    agent_token: string | null
    agent_token_required: boolean
    disable_deep_image_inspection: boolean
    enable_bios_bootloader_install: boolean
    ferrite_log?: boolean
    ferrite_name?: string
    ferrite_progress?: boolean
    heartbeat_timeout: number
    permitted_image_formats?: Array<string>
  }
  node: {
    driver_internal_info: Record<string, unknown>
    instance_info: Record<string, unknown>
    links?: Array<{
      href: string
      rel: string
    }>
    properties: Record<string, unknown>
    uuid: string
  }
}

export type Node = {
  allocation_uuid?: string | null
  automated_clean?: boolean | null
  bios_interface?: string | null
  boot_interface?: string | null
  boot_mode?: string | null
  chassis_uuid?: string | null
  clean_step?: Record<string, unknown> | null
  conductor?: string | null
  conductor_group?: string | null
  console_enabled?: boolean | null
  console_interface?: string | null
  created_at?: string | null
  deploy_interface?: string | null
  deploy_step?: Record<string, unknown> | null
  description?: string | null
  disable_power_off?: boolean | null
  driver?: string | null
  driver_info?: Record<string, unknown> | null
  driver_internal_info?: Record<string, unknown> | null
  extra?: Record<string, unknown> | null
  fault?: string | null
  firmware_interface?: string | null
  health?: string | null
  inspect_interface?: string | null
  inspection_finished_at?: string | null
  inspection_started_at?: string | null
  instance_info?: Record<string, unknown> | null
  instance_name?: string | null
  instance_uuid?: string | null
  last_error?: string | null
  lessee?: string | null
  links?: Links
  maintenance?: boolean | null
  maintenance_reason?: string | null
  management_interface?: string | null
  name?: string | null
  network_data?: Record<string, unknown> | null
  network_interface?: string | null
  owner?: string | null
  parent_node?: string | null
  portgroups?: Links
  ports?: Links
  power_interface?: string | null
  power_state?: string | null
  properties?: Record<string, unknown> | null
  protected?: boolean | null
  protected_reason?: string | null
  provision_state?: string | null
  provision_updated_at?: string | null
  raid_config?: Record<string, unknown> | null
  raid_interface?: string | null
  rescue_interface?: string | null
  reservation?: string | null
  resource_class?: string | null
  retired?: boolean | null
  retired_reason?: string | null
  secure_boot?: boolean | null
  service_step?: Record<string, unknown> | null
  shard?: string | null
  states?: Links
  storage_interface?: string | null
  target_power_state?: string | null
  target_provision_state?: string | null
  target_raid_config?: Record<string, unknown> | null
  traits?: Array<string>
  updated_at?: string | null
  uuid?: string | null
  vendor_interface?: string | null
  volume?: Links
}

export type NodeCreate = {
  automated_clean?: boolean | null
  bios_interface?: string | null
  boot_interface?: string | null
  chassis_uuid?: string | null
  conductor_group?: string | null
  console_interface?: string | null
  deploy_interface?: string | null
  description?: string | null
  disable_power_off?: boolean | null
  driver: string | null
  driver_info?: Record<string, unknown> | null
  extra?: Record<string, unknown> | null
  firmware_interface?: string | null
  inspect_interface?: string | null
  instance_info?: Record<string, unknown> | null
  instance_name?: string | null
  instance_uuid?: string | null
  lessee?: string | null
  maintenance?: boolean | null
  management_interface?: string | null
  name?: string | null
  network_data?: Record<string, unknown> | null
  network_interface?: string | null
  owner?: string | null
  parent_node?: string | null
  power_interface?: string | null
  properties?: Record<string, unknown> | null
  raid_interface?: string | null
  rescue_interface?: string | null
  resource_class?: string | null
  retired?: boolean | null
  retired_reason?: string | null
  shard?: string | null
  storage_interface?: string | null
  uuid?: string | null
  vendor_interface?: string | null
}

export type Patch = Array<{
  op: 'add' | 'replace' | 'remove'
  path: string
  value?: unknown
}>

export type Port = {
  address?: string | null
  available_for_dynamic_portgroup?: boolean | null
  category?: string | null
  created_at?: string | null
  description?: string | null
  extra?: Record<string, unknown> | null
  internal_info?: Record<string, unknown> | null
  is_smartnic?: boolean | null
  links?: Links
  local_link_connection?: Record<string, unknown> | null
  name?: string | null
  node_uuid?: string | null
  physical_network?: string | null
  portgroup_uuid?: string | null
  pxe_enabled?: boolean | null
  updated_at?: string | null
  uuid?: string | null
  vendor?: string | null
}

export type PortCreate = {
  address: string | null
  available_for_dynamic_portgroup?: boolean | null
  category?: string | null
  description?: string | null
  extra?: Record<string, unknown> | null
  is_smartnic?: boolean | null
  local_link_connection?: Record<string, unknown> | null
  name?: string | null
  node_uuid?: string | null
  physical_network?: string | null
  portgroup_uuid?: string | null
  pxe_enabled?: boolean | null
  uuid?: string | null
  vendor?: string | null
}

export type Portgroup = {
  address?: string | null
  category?: string | null
  created_at?: string | null
  dynamic_portgroup?: unknown
  extra?: Record<string, unknown> | null
  internal_info?: Record<string, unknown> | null
  links?: Links
  mode?: string | null
  name?: string | null
  node_uuid?: string | null
  physical_network?: string | null
  ports?: Links
  properties?: Record<string, unknown> | null
  standalone_ports_supported?: boolean | null
  updated_at?: string | null
  uuid?: string | null
}

export type PortgroupCreate = {
  address?: string | null
  category?: string | null
  extra?: Record<string, unknown> | null
  mode?: string | null
  name?: string | null
  node_uuid: string | null
  physical_network?: string | null
  properties?: Record<string, unknown> | null
  standalone_ports_supported?: boolean | null
  uuid?: string | null
}

export type Runbook = {
  created_at?: string | null
  description?: string | null
  disable_ramdisk?: boolean | null
  extra?: Record<string, unknown> | null
  links?: Links
  name?: string | null
  owner?: string | null
  public?: boolean | null
  steps?: Array<{
    args?: Record<string, unknown>
    interface: 'vendor' | 'power' | 'management' | 'firmware' | 'deploy' | 'bios' | 'raid'
    order: number | string
    step: string
  }>
  traits?: Array<string>
  updated_at?: string | null
  uuid?: string | null
}

export type RunbookCreate = {
  description?: string | null
  disable_ramdisk?: boolean | null
  extra?: Record<string, unknown> | null
  name: string | null
  owner?: string | null
  public?: boolean | null
  steps: Array<{
    args?: Record<string, unknown>
    interface: 'vendor' | 'power' | 'management' | 'firmware' | 'deploy' | 'bios' | 'raid'
    order: number | string
    step: string
  }>
  uuid?: string | null
}

export type States = {
  boot_mode?: string | null
  console_enabled?: boolean | null
  last_error?: string | null
  power_state?: string | null
  provision_state?: string | null
  provision_updated_at?: string | null
  raid_config?: Record<string, unknown> | null
  secure_boot?: boolean | null
  target_power_state?: string | null
  target_provision_state?: string | null
  target_raid_config?: Record<string, unknown> | null
}

export type Target = {
  boot_index?: number
  created_at?: string | null
  extra?: Record<string, unknown> | null
  links?: Links
  node_uuid?: string | null
  properties?: Record<string, unknown> | null
  updated_at?: string | null
  uuid?: string | null
  volume_id?: string | null
  volume_type?: string | null
}

export type TargetCreate = {
  boot_index: number
  extra?: Record<string, unknown> | null
  node_uuid: string | null
  properties?: Record<string, unknown> | null
  uuid?: string | null
  volume_id: string | null
  volume_type: string | null
}

export type Template = {
  created_at?: string | null
  extra?: Record<string, unknown> | null
  links?: Links
  name?: string | null
  steps?: Array<{
    args: Record<string, unknown>
    interface: 'vendor' | 'power' | 'management' | 'firmware' | 'deploy' | 'bios' | 'raid'
    priority: number | string
    step: string
  }>
  updated_at?: string | null
  uuid?: string | null
}

export type TemplateCreate = {
  extra?: Record<string, unknown> | null
  name: string | null
  steps: Array<{
    args: Record<string, unknown>
    interface: 'vendor' | 'power' | 'management' | 'firmware' | 'deploy' | 'bios' | 'raid'
    priority: number | string
    step: string
  }>
  uuid?: string | null
}

export interface Operations {
  'GET /': {
    answer: {
      default_version: {
        id: string
        links: Array<{
          href: string
          rel: string
        }>
        min_version: string
        status: string
        version: string
      }
      description: string
      name: string
      versions: Array<{
        id: string
        links: Array<{
          href: string
          rel: string
        }>
        min_version: string
        status: string
        version: string
      }>
    }
    body: undefined
  }
  'POST /ferrite/v1/agents/{node}/bmc_user': {
    answer: undefined
    body: {
      address?: string
      error?: string
      name?: string
      password?: string
      token: string
    }
  }
  'POST /ferrite/v1/agents/{node}/log': {
    answer: undefined
    body: {
      agent_token: string
      first: number
      lines: Array<string>
    }
  }
  'POST /ferrite/v1/agents/{node}/progress': {
    answer: undefined
    body: {
      agent_token: string
      done: number
      stage: string
      step: string
      total: number
    }
  }
  'GET /ferrite/v1/audit': {
    answer: {
      chain: string
      entry: unknown
      hash: string
      id: number
      number: number
    }
    body: undefined
  }
  'GET /ferrite/v1/audit/pruned': {
    answer: {
      entries?: number
      pruned: Array<{
        chain: string
        hash: string
        number: number
      }>
    }
    body: undefined
  }
  'POST /ferrite/v1/audit/pruned': {
    answer: {
      entries?: number
      pruned: Array<{
        chain: string
        hash: string
        number: number
      }>
    }
    body: {
      before: string
    }
  }
  'POST /ferrite/v1/bmc-test': {
    answer: {
      power_state: string
      seconds: number
    }
    body: {
      driver: string
      driver_info?: Record<string, unknown>
    }
  }
  'GET /ferrite/v1/boot/watch': {
    answer: {
      event?: {
        answer?: string
        arch?: number
        asked: string
        at: string
        detail?: string
        file?: string
        firmware?: string
        id: number
        ip?: string
        mac?: string
        message: string
        node?: string
        node_name?: string
        reason?: string
        relay?: string
        server?: string
        service: string
        subnet?: string
        times: number
        try?: string
        why?: string
      } | null
      lost?: number
      server?: {
        address: string
        boot_file?: string
        expected: boolean
        first: string
        last: string
        lends: boolean
        times: number
      } | null
    }
    body: undefined
  }
  'GET /ferrite/v1/conductors': {
    answer: {
      conductors: Array<{
        address?: string
        alive: boolean
        created_at: string
        drained: boolean
        group: string
        hardware_types: Array<string>
        leader: boolean
        name: string
        seen_at: string
      }>
    }
    body: undefined
  }
  'PUT /ferrite/v1/conductors/{host}/drained': {
    answer: undefined
    body: {
      drained: boolean
    }
  }
  'GET /ferrite/v1/erase-key': {
    answer: {
      algorithm: string
      key_id: string
      public_key: string
    }
    body: undefined
  }
  'GET /ferrite/v1/erase-reports': {
    answer: {
      erase_reports: Array<{
        erased: number
        errors: number
        failed: boolean
        key_id: string
        node_name: string
        node_uuid: string
        signed_at: string
        skipped: number
        uuid: string
      }>
      next?: string
    }
    body: undefined
  }
  'GET /ferrite/v1/erase-reports/{report}': {
    answer: {
      failed: boolean
      key_id: string
      node_name: string
      node_uuid: string
      payload: string
      report: unknown
      signature: string
      signed_at: string
      uuid: string
    }
    body: undefined
  }
  'GET /ferrite/v1/events': {
    answer: {
      at: string
      changed?: Array<string>
      conductor?: string
      cursor?: string
      document?: {
        error?: string
        generation?: number
        kind: string
        name: string
        namespace?: string
        provisioning_state?: string
        uid: string
      } | null
      moves?: Array<{
        from: string
        on: string
        to: string
      }>
      node?: {
        conductor_group?: string
        driver?: string
        fault?: string
        instance_uuid?: string
        last_error?: string
        maintenance: boolean
        name?: string
        power_state?: string
        provision_state?: string
        resource_class?: string
        revision?: number
        step?: string
        target_provision_state?: string
        uuid: string
      } | null
      notes?: Array<{
        activity?: string
        severity: string
        text: string
      }>
      ports?: Record<string, string>
      power_change?: {
        from: string
        to: string
      } | null
      progress?: {
        done: number
        stage: string
        step: string
        total: number
      } | null
      project?: string
      record?: {
        kind: string
        name?: string
        revision?: number
        uuid: string
      } | null
      stage?: {
        detail?: string
        name: string
      } | null
      type: string
      user?: string
    }
    body: undefined
  }
  'GET /ferrite/v1/hold': {
    answer: {
      backup?: string | null
      held: boolean
      nodes: Array<{
        at_work: boolean
        dangerous: boolean
        effect: string
        findings: Array<string>
        name: string
        power_now: string
        power_read_at?: string | null
        power_state: string
        provision_state: string
        uuid: string
      }>
      since?: string | null
      unread: number
    }
    body: undefined
  }
  'PUT /ferrite/v1/hold': {
    answer: undefined
    body: {
      abandon: Array<string>
      held: boolean
    }
  }
  'GET /ferrite/v1/images': {
    answer: {
      images: Array<{
        checksum?: string
        compression?: string
        conductor?: string
        created_at: string
        created_by?: string
        digest?: string
        error?: string
        format?: string
        name: string
        owner?: string
        progress?: {
          done: number
          total: number
        } | null
        size: number
        source?: string
        state: string
        uuid: string
        virtual_size: number
      }>
    }
    body: undefined
  }
  'POST /ferrite/v1/images': {
    answer: {
      checksum?: string
      compression?: string
      conductor?: string
      created_at: string
      created_by?: string
      digest?: string
      error?: string
      format?: string
      name: string
      owner?: string
      progress?: {
        done: number
        total: number
      } | null
      size: number
      source?: string
      state: string
      uuid: string
      virtual_size: number
    }
    body: {
      checksum?: string
      name: string
      owner?: string
      url: string
    }
  }
  'GET /ferrite/v1/images/{image}': {
    answer: {
      checksum?: string
      compression?: string
      conductor?: string
      created_at: string
      created_by?: string
      digest?: string
      error?: string
      format?: string
      name: string
      owner?: string
      progress?: {
        done: number
        total: number
      } | null
      size: number
      source?: string
      state: string
      uuid: string
      virtual_size: number
    }
    body: undefined
  }
  'GET /ferrite/v1/images/{image}/file': {
    answer: string
    body: undefined
  }
  'PUT /ferrite/v1/images/{image}/file': {
    answer: {
      checksum?: string
      compression?: string
      conductor?: string
      created_at: string
      created_by?: string
      digest?: string
      error?: string
      format?: string
      name: string
      owner?: string
      progress?: {
        done: number
        total: number
      } | null
      size: number
      source?: string
      state: string
      uuid: string
      virtual_size: number
    }
    body: string
  }
  'POST /ferrite/v1/import': {
    answer: {
      changes: Array<{
        here: unknown
        item: string
        secret?: boolean
        there: unknown
      }>
      conflicts: Array<{
        here: unknown
        item: string
        secret?: boolean
        there: unknown
      }>
      kept: Array<{
        here: unknown
        item: string
        secret?: boolean
        there: unknown
      }>
      outcome: string
      uuid: string
    }
    body: {
      allocation?: Record<string, unknown>
      chassis?: Record<string, unknown>
      connectors?: Array<Record<string, unknown>>
      deploy_template?: Record<string, unknown>
      dry_run?: boolean
      inventory?: {
        inventory: unknown
        plugin_data: unknown
      } | null
      node?: Record<string, unknown>
      overwrite?: boolean
      portgroups?: Array<Record<string, unknown>>
      ports?: Array<Record<string, unknown>>
      runbook?: Record<string, unknown>
      source: string
      targets?: Array<Record<string, unknown>>
    }
  }
  'GET /ferrite/v1/leases': {
    answer: {
      leases: Array<{
        expires?: string
        ip: string
        mac: string
        static: boolean
        subnet?: string
      }>
    }
    body: undefined
  }
  'PUT /ferrite/v1/leases/{mac}': {
    answer: {
      expires?: string
      ip: string
      mac: string
      static: boolean
      subnet?: string
    }
    body: {
      ip: string
      subnet?: string
    }
  }
  'GET /ferrite/v1/nodes/status': {
    answer: {
      missing: Array<string>
      nodes: Record<string, {
        activity?: string
        boot_stages?: Array<{
          at: string
          detail?: string
          name: string
        }>
        fault?: string
        index: number
        last_error?: string
        last_heartbeat?: string
        maintenance?: boolean
        maintenance_reason?: string
        name?: string
        node: string
        power_read_at?: string
        power_state?: string
        progress?: {
          at: string
          done: number
          eta: number
          rate: number
          stage?: string
          step: string
          total: number
        } | null
        since?: string
        state: string
        step?: string
        steps?: Array<string>
        target?: string
        target_power_state?: string
        try?: string
        until?: string
        waiting_for?: string
        waiting_since?: string
        warnings?: Array<string>
      }>
    }
    body: undefined
  }
  'GET /ferrite/v1/nodes/{node}/calls': {
    answer: {
      calls: Array<{
        at: string
        effect: string
        error?: string
        id: number
        name: string
        note?: string
        protocol: string
        seconds: number
        server: string
        status?: number
      }>
      node: string
    }
    body: undefined
  }
  'GET /ferrite/v1/nodes/{node}/erase-reports': {
    answer: {
      erase_reports: Array<{
        erased: number
        errors: number
        failed: boolean
        key_id: string
        node_name: string
        node_uuid: string
        signed_at: string
        skipped: number
        uuid: string
      }>
      next?: string
    }
    body: undefined
  }
  'GET /ferrite/v1/nodes/{node}/logs': {
    answer: string
    body: undefined
  }
  'PUT /ferrite/v1/nodes/{node}/power': {
    answer: undefined
    body: {
      confirmed: string
    }
  }
  'POST /ferrite/v1/nodes/{node}/root-device': {
    answer: {
      disk?: string
      disks: Array<{
        model?: string
        name: string
        serial?: string
        size?: number
        taken: boolean
        why: string
      }>
      node: string
      refusal?: string
      root_device: Record<string, unknown>
    }
    body: {
      root_device?: Record<string, unknown> | null
    } | null
  }
  'GET /ferrite/v1/nodes/{node}/sensors': {
    answer: {
      at: string
      incomplete?: Array<string>
      node: string
      sensors: Array<{
        context?: string
        group: string
        health?: string
        id?: string
        name: string
        of?: string
        reading: number | null
        state?: string
        unit?: string
        upper_critical?: number | null
      }>
      source: string
    }
    body: undefined
  }
  'GET /ferrite/v1/nodes/{node}/status': {
    answer: {
      activity?: string
      boot_stages?: Array<{
        at: string
        detail?: string
        name: string
      }>
      fault?: string
      index: number
      last_error?: string
      last_heartbeat?: string
      maintenance?: boolean
      maintenance_reason?: string
      name?: string
      node: string
      power_read_at?: string
      power_state?: string
      progress?: {
        at: string
        done: number
        eta: number
        rate: number
        stage?: string
        step: string
        total: number
      } | null
      since?: string
      state: string
      step?: string
      steps?: Array<string>
      target?: string
      target_power_state?: string
      try?: string
      until?: string
      waiting_for?: string
      waiting_since?: string
      warnings?: Array<string>
    }
    body: undefined
  }
  'GET /ferrite/v1/nodes/{node}/steps': {
    answer: {
      agent_listed: Record<string, string>
      node: string
      open: Record<string, Array<string>>
      steps: Array<{
        abortable: boolean
        args: Record<string, {
          description: string
          required: boolean
        }>
        interface: string
        priorities: Record<string, number>
        source: string
        step: string
      }>
    }
    body: undefined
  }
  'GET /ferrite/v1/openapi.json': {
    answer: Record<string, unknown> | null
    body: undefined
  }
  'GET /ferrite/v1/session': {
    answer: {
      ends: string | null
      project: string
      role: string
      rules: {
        always: Array<string>
        lent: Array<string>
        owned: Array<string>
      }
      user: string
      word: string
    }
    body: undefined
  }
  'POST /ferrite/v1/session': {
    answer: {
      ends: string | null
      project: string
      role: string
      rules: {
        always: Array<string>
        lent: Array<string>
        owned: Array<string>
      }
      user: string
      word: string
    }
    body: undefined
  }
  'GET /ferrite/v1/users': {
    answer: {
      roles: boolean
      users: Array<{
        name: string
        password: boolean
        project: string
        role: string
        tokens: Array<{
          expired: boolean
          expires: string | null
          label: string
        }>
      }>
      ways: Array<string>
    }
    body: undefined
  }
  'GET /metrics': {
    answer: string
    body: undefined
  }
  'GET /v1': {
    answer: {
      id: string
      links: Links
      media_types: Record<string, string>
      version: {
        id: string
        links: Array<{
          href: string
          rel: string
        }>
        min_version: string
        status: string
        version: string
      }
    }
    body: undefined
  }
  'GET /v1/allocations': {
    answer: {
      allocations: Array<Allocation>
      next?: string
    }
    body: undefined
  }
  'POST /v1/allocations': {
    answer: Allocation
    body: AllocationCreate
  }
  'GET /v1/allocations/{ident}': {
    answer: Allocation
    body: undefined
  }
  'PATCH /v1/allocations/{ident}': {
    answer: Allocation
    body: Patch
  }
  'GET /v1/chassis': {
    answer: {
      chassis: Array<Chassis>
      next?: string
    }
    body: undefined
  }
  'POST /v1/chassis': {
    answer: Chassis
    body: ChassisCreate
  }
  'GET /v1/chassis/detail': {
    answer: {
      chassis: Array<Chassis>
      next?: string
    }
    body: undefined
  }
  'GET /v1/chassis/{ident}': {
    answer: Chassis
    body: undefined
  }
  'PATCH /v1/chassis/{ident}': {
    answer: Chassis
    body: Patch
  }
  'GET /v1/chassis/{ident}/nodes': {
    answer: {
      next?: string
      nodes: Array<Node>
    }
    body: undefined
  }
  'GET /v1/chassis/{ident}/nodes/detail': {
    answer: {
      next?: string
      nodes: Array<Node>
    }
    body: undefined
  }
  'GET /v1/conductors': {
    answer: {
      conductors: Array<Conductor>
      next?: string
    }
    body: undefined
  }
  'GET /v1/conductors/{host}': {
    answer: Conductor
    body: undefined
  }
  'POST /v1/continue_inspection': {
    answer: Lookup | {
      ferrite_bmc_user?: {
        name: string
        token: string
      }
      uuid: string
    }
    body: {
      inventory: {
        interfaces: Array<{
          mac_address: string
          name?: string
        }>
      }
    }
  }
  'GET /v1/deploy_templates': {
    answer: {
      deploy_templates: Array<Template>
      next?: string
    }
    body: undefined
  }
  'POST /v1/deploy_templates': {
    answer: Template
    body: TemplateCreate
  }
  'GET /v1/deploy_templates/{ident}': {
    answer: Template
    body: undefined
  }
  'PATCH /v1/deploy_templates/{ident}': {
    answer: Template
    body: Patch
  }
  'GET /v1/drivers': {
    answer: {
      drivers: Array<Driver>
      next?: string
    }
    body: undefined
  }
  'GET /v1/drivers/{driver}': {
    answer: Driver
    body: undefined
  }
  'GET /v1/drivers/{driver}/properties': {
    answer: Record<string, string>
    body: undefined
  }
  'GET /v1/drivers/{driver}/raid/logical_disk_properties': {
    answer: Record<string, string>
    body: undefined
  }
  'DELETE /v1/drivers/{driver}/vendor_passthru': {
    answer: unknown
    body: undefined
  }
  'GET /v1/drivers/{driver}/vendor_passthru': {
    answer: unknown
    body: undefined
  }
  'PATCH /v1/drivers/{driver}/vendor_passthru': {
    answer: unknown
    body: undefined
  }
  'POST /v1/drivers/{driver}/vendor_passthru': {
    answer: unknown
    body: undefined
  }
  'PUT /v1/drivers/{driver}/vendor_passthru': {
    answer: unknown
    body: undefined
  }
  'GET /v1/drivers/{driver}/vendor_passthru/methods': {
    answer: Record<string, {
      async: boolean
      attach: boolean
      description: string
      http_methods: Array<string>
      require_exclusive_lock: boolean
    }>
    body: undefined
  }
  'DELETE /v1/drivers/{driver}/vendor_passthru/{method}': {
    answer: unknown
    body: undefined
  }
  'GET /v1/drivers/{driver}/vendor_passthru/{method}': {
    answer: unknown
    body: undefined
  }
  'PATCH /v1/drivers/{driver}/vendor_passthru/{method}': {
    answer: unknown
    body: undefined
  }
  'POST /v1/drivers/{driver}/vendor_passthru/{method}': {
    answer: unknown
    body: undefined
  }
  'PUT /v1/drivers/{driver}/vendor_passthru/{method}': {
    answer: unknown
    body: undefined
  }
  'POST /v1/events': {
    answer: undefined
    body: {
      events: Array<{
        'binding:host_id'?: string | null
        'binding:vnic_type'?: string | null
        device_id?: string | null
        event: 'network.bind_port' | 'network.unbind_port' | 'network.delete_port'
        mac_address: string
        port_id: string
        status: string
      }>
    }
  }
  'POST /v1/heartbeat/{node}': {
    answer: undefined
    body: {
      agent_status?: 'end' | 'error' | 'start'
      agent_status_message?: string
      agent_token: string
      agent_verify_ca?: string
      agent_version: string
      callback_url: string
    }
  }
  'GET /v1/inspection_rules': {
    answer: {
      inspection_rules: Array<InspectionRule>
      next?: string
    }
    body: undefined
  }
  'POST /v1/inspection_rules': {
    answer: InspectionRule
    body: InspectionRuleCreate
  }
  'GET /v1/inspection_rules/{ident}': {
    answer: InspectionRule
    body: undefined
  }
  'PATCH /v1/inspection_rules/{ident}': {
    answer: InspectionRule
    body: Patch
  }
  'GET /v1/lookup': {
    answer: Lookup
    body: undefined
  }
  'GET /v1/nodes': {
    answer: {
      next?: string
      nodes: Array<Node>
    }
    body: undefined
  }
  'POST /v1/nodes': {
    answer: Node
    body: NodeCreate
  }
  'GET /v1/nodes/detail': {
    answer: {
      next?: string
      nodes: Array<Node>
    }
    body: undefined
  }
  'GET /v1/nodes/validate': {
    answer: Record<string, {
      reason?: string
      result: boolean | null
    }>
    body: undefined
  }
  'GET /v1/nodes/{node}': {
    answer: Node
    body: undefined
  }
  'PATCH /v1/nodes/{node}': {
    answer: Node
    body: Patch
  }
  'GET /v1/nodes/{node}/allocation': {
    answer: Allocation
    body: undefined
  }
  'GET /v1/nodes/{node}/bios': {
    answer: {
      bios: Array<BiosSetting>
    }
    body: undefined
  }
  'GET /v1/nodes/{node}/bios/{setting}': {
    answer: Record<string, BiosSetting>
    body: undefined
  }
  'GET /v1/nodes/{node}/children': {
    answer: {
      children: Array<string>
      links: {
        href: string
        rel: string
      }
    }
    body: undefined
  }
  'GET /v1/nodes/{node}/firmware': {
    answer: {
      firmware: Array<FirmwareComponent>
    }
    body: undefined
  }
  'GET /v1/nodes/{node}/history': {
    answer: {
      history: Array<HistoryEntry>
      next?: string
    }
    body: undefined
  }
  'GET /v1/nodes/{node}/history/detail': {
    answer: {
      history: Array<HistoryEntry>
      next?: string
    }
    body: undefined
  }
  'GET /v1/nodes/{node}/history/{entry}': {
    answer: HistoryEntry
    body: undefined
  }
  'GET /v1/nodes/{node}/inventory': {
    answer: {
      inventory: Record<string, unknown> | null
      plugin_data: Record<string, unknown> | null
    }
    body: undefined
  }
  'PUT /v1/nodes/{node}/maintenance': {
    answer: undefined
    body: {
      reason?: string | null
    }
  }
  'GET /v1/nodes/{node}/management/boot_device': {
    answer: {
      boot_device: string | null
      persistent?: boolean | null
    }
    body: undefined
  }
  'PUT /v1/nodes/{node}/management/boot_device': {
    answer: undefined
    body: {
      boot_device: string | null
      persistent?: boolean | null
    }
  }
  'GET /v1/nodes/{node}/management/boot_device/supported': {
    answer: {
      supported_boot_devices: Array<string>
    }
    body: undefined
  }
  'GET /v1/nodes/{node}/management/indicators': {
    answer: {
      indicators: Array<{
        component: string
        links: Links
        name: string
        readonly: boolean
        states: Array<string>
      }>
    }
    body: undefined
  }
  'GET /v1/nodes/{node}/management/indicators/{component}/{indicator}': {
    answer: {
      state: 'blinking' | 'off' | 'on'
    }
    body: undefined
  }
  'PUT /v1/nodes/{node}/management/indicators/{component}/{indicator}': {
    answer: undefined
    body: {
      state: 'blinking' | 'off' | 'on'
    }
  }
  'GET /v1/nodes/{node}/management/indicators/{indicator}': {
    answer: {
      state: 'blinking' | 'off' | 'on'
    }
    body: undefined
  }
  'PUT /v1/nodes/{node}/management/indicators/{indicator}': {
    answer: undefined
    body: {
      state: 'blinking' | 'off' | 'on'
    }
  }
  'PUT /v1/nodes/{node}/management/inject_nmi': {
    answer: undefined
    body: Record<string, unknown> | null
  }
  'GET /v1/nodes/{node}/portgroups': {
    answer: {
      next?: string
      portgroups: Array<Portgroup>
    }
    body: undefined
  }
  'GET /v1/nodes/{node}/portgroups/detail': {
    answer: {
      next?: string
      portgroups: Array<Portgroup>
    }
    body: undefined
  }
  'GET /v1/nodes/{node}/ports': {
    answer: {
      next?: string
      ports: Array<Port>
    }
    body: undefined
  }
  'GET /v1/nodes/{node}/ports/detail': {
    answer: {
      next?: string
      ports: Array<Port>
    }
    body: undefined
  }
  'GET /v1/nodes/{node}/states': {
    answer: States
    body: undefined
  }
  'PUT /v1/nodes/{node}/states/boot_mode': {
    answer: undefined
    body: {
      target: 'bios' | 'uefi'
    }
  }
  'GET /v1/nodes/{node}/states/console': {
    answer: {
      console_enabled: boolean
      console_info: Record<string, unknown> | null
    }
    body: undefined
  }
  'PUT /v1/nodes/{node}/states/console': {
    answer: undefined
    body: {
      enabled: boolean | string
    }
  }
  'PUT /v1/nodes/{node}/states/power': {
    answer: undefined
    body: {
      target: 'power off' | 'power on' | 'rebooting' | 'soft power off' | 'soft rebooting'
      timeout?: number | null
    }
  }
  'PUT /v1/nodes/{node}/states/provision': {
    answer: undefined
    body: {
      clean_steps?: Array<Record<string, unknown>> | null
      configdrive?: string | Record<string, unknown> | null
      deploy_steps?: Array<Record<string, unknown>> | null
      disable_ramdisk?: boolean | null
      rescue_password?: string
      runbook?: string | null
      service_steps?: Array<Record<string, unknown>> | null
      target: 'abort' | 'active' | 'adopt' | 'clean' | 'delete' | 'deleted' | 'deploy' | 'inspect' | 'manage' | 'provide' | 'rebuild' | 'rescue' | 'service' | 'undeploy' | 'unhold' | 'unrescue'
    }
  }
  'PUT /v1/nodes/{node}/states/raid': {
    answer: undefined
    body: {
      logical_disks?: Array<{
        controller?: unknown
        disk_type?: unknown
        interface_type?: unknown
        is_root_volume?: unknown
        number_of_physical_disks?: unknown
        physical_disks?: unknown
        raid_level: unknown
        share_physical_disks?: unknown
        size_gb: unknown
        volume_name?: unknown
      }>
    } | null
  }
  'PUT /v1/nodes/{node}/states/secure_boot': {
    answer: undefined
    body: {
      target: boolean | string
    }
  }
  'GET /v1/nodes/{node}/traits': {
    answer: {
      traits: Array<string>
    }
    body: undefined
  }
  'PUT /v1/nodes/{node}/traits': {
    answer: undefined
    body: {
      traits: Array<string>
    }
  }
  'GET /v1/nodes/{node}/validate': {
    answer: Record<string, {
      reason?: string
      result: boolean | null
    }>
    body: undefined
  }
  'DELETE /v1/nodes/{node}/vendor_passthru': {
    answer: unknown
    body: undefined
  }
  'GET /v1/nodes/{node}/vendor_passthru': {
    answer: unknown
    body: undefined
  }
  'PATCH /v1/nodes/{node}/vendor_passthru': {
    answer: unknown
    body: undefined
  }
  'POST /v1/nodes/{node}/vendor_passthru': {
    answer: unknown
    body: undefined
  }
  'PUT /v1/nodes/{node}/vendor_passthru': {
    answer: unknown
    body: undefined
  }
  'GET /v1/nodes/{node}/vendor_passthru/methods': {
    answer: Record<string, {
      async: boolean
      attach: boolean
      description: string
      http_methods: Array<string>
      require_exclusive_lock: boolean
    }>
    body: undefined
  }
  'DELETE /v1/nodes/{node}/vendor_passthru/{method}': {
    answer: unknown
    body: undefined
  }
  'GET /v1/nodes/{node}/vendor_passthru/{method}': {
    answer: unknown
    body: undefined
  }
  'PATCH /v1/nodes/{node}/vendor_passthru/{method}': {
    answer: unknown
    body: undefined
  }
  'POST /v1/nodes/{node}/vendor_passthru/{method}': {
    answer: unknown
    body: undefined
  }
  'PUT /v1/nodes/{node}/vendor_passthru/{method}': {
    answer: unknown
    body: undefined
  }
  'GET /v1/nodes/{node}/vifs': {
    answer: {
      vifs: Array<{
        id: string
      }>
    }
    body: undefined
  }
  'POST /v1/nodes/{node}/vifs': {
    answer: undefined
    body: {
      id: string
      port_uuid?: string | null
      portgroup_uuid?: string | null
    }
  }
  'GET /v1/nodes/{node}/vmedia': {
    answer: Array<{
      image: string | null
      inserted: boolean
      media_types: Array<string>
    }>
    body: undefined
  }
  'POST /v1/nodes/{node}/vmedia': {
    answer: undefined
    body: {
      device_type: 'cdrom' | 'disk' | 'floppy'
      image_download_source?: 'http' | 'local'
      image_url: string
    }
  }
  'GET /v1/nodes/{node}/volume': {
    answer: {
      connectors: Links
      links: Links
      targets: Links
    }
    body: undefined
  }
  'GET /v1/nodes/{node}/volume/connectors': {
    answer: {
      connectors: Array<Connector>
      next?: string
    }
    body: undefined
  }
  'GET /v1/nodes/{node}/volume/targets': {
    answer: {
      next?: string
      targets: Array<Target>
    }
    body: undefined
  }
  'GET /v1/portgroups': {
    answer: {
      next?: string
      portgroups: Array<Portgroup>
    }
    body: undefined
  }
  'POST /v1/portgroups': {
    answer: Portgroup
    body: PortgroupCreate
  }
  'GET /v1/portgroups/detail': {
    answer: {
      next?: string
      portgroups: Array<Portgroup>
    }
    body: undefined
  }
  'GET /v1/portgroups/{ident}': {
    answer: Portgroup
    body: undefined
  }
  'PATCH /v1/portgroups/{ident}': {
    answer: Portgroup
    body: Patch
  }
  'GET /v1/portgroups/{ident}/ports': {
    answer: {
      next?: string
      ports: Array<Port>
    }
    body: undefined
  }
  'GET /v1/portgroups/{ident}/ports/detail': {
    answer: {
      next?: string
      ports: Array<Port>
    }
    body: undefined
  }
  'GET /v1/ports': {
    answer: {
      next?: string
      ports: Array<Port>
    }
    body: undefined
  }
  'POST /v1/ports': {
    answer: Port
    body: PortCreate
  }
  'GET /v1/ports/detail': {
    answer: {
      next?: string
      ports: Array<Port>
    }
    body: undefined
  }
  'GET /v1/ports/{port}': {
    answer: Port
    body: undefined
  }
  'PATCH /v1/ports/{port}': {
    answer: Port
    body: Patch
  }
  'GET /v1/runbooks': {
    answer: {
      next?: string
      runbooks: Array<Runbook>
    }
    body: undefined
  }
  'POST /v1/runbooks': {
    answer: Runbook
    body: RunbookCreate
  }
  'GET /v1/runbooks/{ident}': {
    answer: Runbook
    body: undefined
  }
  'PATCH /v1/runbooks/{ident}': {
    answer: Runbook
    body: Patch
  }
  'GET /v1/runbooks/{ident}/traits': {
    answer: {
      traits: Array<string>
    }
    body: undefined
  }
  'PUT /v1/runbooks/{ident}/traits': {
    answer: undefined
    body: {
      traits: Array<string>
    }
  }
  'GET /v1/shards': {
    answer: {
      shards: Array<{
        count: number
        name: string
      }>
    }
    body: undefined
  }
  'GET /v1/volume': {
    answer: {
      connectors: Links
      links: Links
      targets: Links
    }
    body: undefined
  }
  'GET /v1/volume/connectors': {
    answer: {
      connectors: Array<Connector>
      next?: string
    }
    body: undefined
  }
  'POST /v1/volume/connectors': {
    answer: Connector
    body: ConnectorCreate
  }
  'GET /v1/volume/connectors/{ident}': {
    answer: Connector
    body: undefined
  }
  'PATCH /v1/volume/connectors/{ident}': {
    answer: Connector
    body: Patch
  }
  'GET /v1/volume/targets': {
    answer: {
      next?: string
      targets: Array<Target>
    }
    body: undefined
  }
  'POST /v1/volume/targets': {
    answer: Target
    body: TargetCreate
  }
  'GET /v1/volume/targets/{ident}': {
    answer: Target
    body: undefined
  }
  'PATCH /v1/volume/targets/{ident}': {
    answer: Target
    body: Patch
  }
}
