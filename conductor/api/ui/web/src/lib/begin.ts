// The three ways in which machines come to a conductor, each with a command that works as it is printed.

export interface Way {
  title: string
  means: string
  /** page is a page of the interface that does the same. */
  page?: { to: string; label: string }
  where: string
  command: string
}

/** ways are for the conductor at an address, like https://conductor:6385. */
export const ways = (url: string): Way[] => [
  {
    title: 'Add one machine by its BMC', means: 'You know the address and the login of its BMC, and the MAC address that it boots from.',
    page: { to: 'enroll', label: 'Enroll a machine' },
    where: 'Or in bash. It asks for the password; replace name and addresses with yours:',
    command: `export FERRITE_URL=${url}
read -rsp 'Password of the BMC: ' BMC_PASSWORD && ferrite node create --driver redfish \\
  --name metal-1 --inspect-interface agent --port 52:54:00:12:34:56 \\
  --driver-info redfish_address=https://192.0.2.10 --driver-info redfish_username=admin \\
  --driver-info-file redfish_password=<(printf %s "$BMC_PASSWORD")`,
  },
  {
    title: 'Apply a file of machines', means: 'You have a list: one document a machine, as in Metal3. The file can be applied again after each change.',
    page: { to: 'hosts', label: 'Hosts' },
    where: 'This file has a machine to look around with, which does not exist:',
    command: `export FERRITE_URL=${url}
cat > machines.yaml <<'END'
apiVersion: v1
kind: Secret
metadata: {name: metal-1-bmc}
stringData: {username: admin, password: change-me}
---
apiVersion: metal3.io/v1alpha1
kind: BareMetalHost
metadata: {name: metal-1}
spec:
  online: true
  bootMACAddress: 52:54:00:12:34:57
  bmc: {address: fake://metal-1, credentialsName: metal-1-bmc}
END
ferrite host apply -f machines.yaml`,
  },
  {
    title: 'Let machines announce themselves', means: 'Unknown machines on the boot network boot the ramdisk, are inspected, and wait in the inbox for your yes.',
    page: { to: 'discovered', label: 'Discovered' },
    where: 'On the conductor’s host, as root; its boot service must be on. Then switch the machines on:',
    command: `echo 'discovery: redfish' >> /etc/ferrite/ferrite.yaml && systemctl restart ferrite`,
  },
]
