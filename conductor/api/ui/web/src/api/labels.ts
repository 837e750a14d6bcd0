// Generated: go test ./conductor/api/ui -run Generated -update

// labels are the labels of forms, by the path that the API's errors name.
export const labels: Record<string, string> = {
  'instance_info/image_source': 'Image',
  'instance_info/image_checksum': 'Checksum',
  'instance_info/image_os_hash_algo': 'Checksum',
  'instance_info/image_os_hash_value': 'Checksum',
  'instance_info/image_disk_format': 'Format',
  'driver_info/redfish_address': 'Address of the BMC',
  'driver_info/redfish_username': 'User of the BMC',
  'driver_info/redfish_password': 'Password of the BMC',
  'driver_info/redfish_verify_ca': 'Check the BMC’s certificate',
  'driver_info/redfish_system_id': 'System, where the BMC has several',
  'driver_info/ipmi_address': 'Address of the BMC',
  'driver_info/ipmi_username': 'User of the BMC',
  'driver_info/ipmi_password': 'Password of the BMC',
  'driver_info/ipmi_port': 'Port of the BMC',
}
