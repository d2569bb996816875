# What our targets may ask of those who link them.
function(expect_empty target property)
  get_target_property(value ${target} ${property})
  if(value)
    message(FATAL_ERROR "${target} has ${property} '${value}'; it must have none")
  endif()
endfunction()

foreach(target horae::wheel horae::horae)
  foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS LINK_OPTIONS)
    expect_empty(${target} INTERFACE_${property})
  endforeach()
endforeach()
expect_empty(horae::wheel INTERFACE_LINK_LIBRARIES)
